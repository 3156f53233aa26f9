# SPDX-License-Identifier: GPL-2.0-or-later
"""In detail: of every command it is known when its bytes were at the sockets, by their place in the stream, so the parts of
each way add up to it. A plain session attaches nothing for it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from bed import SLOW_NQN
from support import fio
from support.checks import Test
from support.fio import READ_4K, READ_128K, WRITE_4K, WRITE_64K, Load
from support.lab import Lab, prepare_host
from support.ntprofctl import attached_programs, recorded, session, wait_recording
from support.report import Group

_KINDS = (READ_4K, WRITE_4K, WRITE_64K, READ_128K)
_PARTS = {"request": ("request_wire", "target_receive"), "response": ("response_wire", "host_receive"),
          "transfer": ("transfer_wire", "transfer_host_receive", "transfer_target_receive")}
_DETAIL_PROGRAMS = {"nvme_tcp_data_ready", "nvmet_tcp_data_ready", "tcp_add_backlog", "skb_copy_bits", "block_rq_issue",
                    "target_block_rq_complete"}


def _check(test: Test, group: Group, ios: int, skipped: int) -> None:
    """A row is told when at least 99 % of the commands tell it; a record whose times are not in order is a loss."""
    test.at_least("joined commands", group.joined, ios - skipped)
    for way, parts in _PARTS.items():
        means = [group.component("network", part).mean_ns for part in parts]
        test.within(f"{' + '.join(parts)}, against {way}", sum(means), group.component("network", way).mean_ns, margin=1,
                    unit="ns")
    for receive in ("host_receive", "target_receive"):
        test.at_least(receive, group.component("network", receive).mean_ns, 1000, "ns")
    for receive in ("transfer_host_receive", "transfer_target_receive") if group.data["op"] == "write" else ():
        if group.data["size_bytes"] == WRITE_64K.size:
            test.at_least(receive, group.component("network", receive).mean_ns, 1000, "ns")


def _known(lab: Lab, namespace: str, what: str, count: int) -> None:
    with lab.scope.test(f"{what}, 1 and 16 at a time: when they arrived is known of all commands, and each way is the sum of "
                        "its parts") as test:
        loads = [Load(kind, count, depth) for depth in (1, 16) for kind in _KINDS]
        with session(lab.host, namespace, "all", "--detail") as recording:
            fio.run(lab.host, namespace, loads)
        report = recorded(recording)
        test.equal("losses by cause", report.unexplained, {})
        if report.losses or report.beside:
            test.note(f"losses {report.losses}, beside {report.beside}")
        for kind in _KINDS:
            _check(test, report.group(kind), 2 * count, report.skipped)


@contextlib.contextmanager
def _connected(lab: Lab, *options: str) -> Iterator[str]:
    """The slow subsystem, connected with such options."""
    connect = ["nvme", "connect", "--transport=tcp", "--traddr=10.8.0.2", "--trsvcid=4420", f"--nqn={SLOW_NQN}"]
    disconnect = ["nvme", "disconnect", "--nqn", SLOW_NQN]
    lab.host.run(disconnect, check=True)
    try:
        lab.host.run([*connect, *options], check=True)
        namespace = lab.bed.slow_namespace
        prepare_host(lab.bed, namespace)
        yield namespace
    finally:
        lab.host.run(disconnect)
        lab.slow_namespace = lab.bed.slow_namespace
        prepare_host(lab.bed, lab.slow_namespace)


def _plain(lab: Lab) -> None:
    with lab.scope.test("a plain session attaches no program for any of this, and its report does not tell it") as test:
        with session(lab.host, lab.namespace) as recording:
            wait_recording(lab.host)
            names = {program["name"] for program in attached_programs(lab.host)}
            outcome = fio.run(lab.host, lab.namespace, [Load(READ_4K, 100)])[0]
        test.true("programs attached", names)
        # the kernel keeps 15 bytes of a name
        test.equal("programs for detail", {name for name in _DETAIL_PROGRAMS if name[:15] in {n[:15] for n in names}}, set())
        group = recorded(recording).group(READ_4K)
        test.equal("joined commands", group.joined, outcome.ios)
        for stage, parts in {"network": _PARTS["request"] + _PARTS["response"], "storage": ("target_block", "drive")}.items():
            for part in next(s["components"] for s in group.data["stages"] if s["id"] == stage):
                if part["id"] in parts and part["mean_ns"] is not None:
                    test.fail(f"{part['id']} of a plain session: expected not to be told, it is {part['mean_ns']}")


def run(lab: Lab) -> None:
    _plain(lab)
    _known(lab, lab.namespace, "with neither digest", 150)
    for options, what in ((("--hdr-digest", "--data-digest"), "with header and data digests"),
                          (("--disable-sqflow",), "reads without a response after their data")):
        with _connected(lab, *options) as namespace:
            _known(lab, namespace, what, 40)
