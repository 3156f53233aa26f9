# SPDX-License-Identifier: GPL-2.0-or-later
"""TLS between host and target: every command is counted and joined, its stages add up, a slow drive is in storage and a slow
link in the network. When bytes arrived is not known, since TLS has them between socket and driver: the report says so.
"""

from __future__ import annotations

from support import fio, tls
from support.checks import Test
from support.exports import exported, null_drive
from support.fio import KIB, READ_4K, READ_128K, WRITE_1M, WRITE_4K, WRITE_64K, Kind, Load
from support.kinds import check_all, drive_of
from support.lab import Lab, prepare_host
from support.network import HOST_EGRESS, netem
from support.ntprofctl import recorded, session
from support.report import STAGES, Group

_DRIVE_NS, _SLOW_NS, _DELAY_NS = 100_000, 5_000_000, 5_000_000
_KINDS = (READ_4K, READ_128K, WRITE_4K, WRITE_64K)
_LOADS = [Load(kind, 10) for kind in _KINDS]
# Of sizes of their own, so that what is compared is one at a time.
_DEEP = [Load(Kind("8 KiB reads", "read", 8 * KIB, "randread"), 30, 8),
         Load(Kind("8 KiB writes", "write", 8 * KIB, "randwrite"), 30, 8),
         Load(Kind("128 KiB writes", "write", 128 * KIB, "randwrite", r2t=True), 16, 8)]
# Lets the connection's congestion window grow to what the loads need.
_WARM_UP = Load(WRITE_1M, 3)
_WAYS = {"request": ("request_wire", "target_receive"), "response": ("response_wire", "host_receive"),
         "transfer": ("transfer_wire", "transfer_host_receive", "transfer_target_receive")}
_DIGESTS = ("hdr_digest", "data_digest", "disable_sqflow")


def _measure(test: Test, lab: Lab, namespace: str, loads: list[Load], *options: str) -> dict[Kind, Group]:
    """The groups of a session, in which nothing is missing."""
    with session(lab.host, namespace, "all", *options) as recording:
        fio.run(lab.host, namespace, loads)
    report = recorded(recording)
    test.equal("commands of the session, against fio's I/Os", report.commands, sum(load.count for load in loads))
    check_all(test, report)
    for load in loads:
        test.equal(f"{load.kind.name}: commands", report.group(load.kind).commands, load.count)
    return {load.kind: report.group(load.kind) for load in loads}


def _is_tls(test: Test, lab: Lab) -> None:
    sockets = lab.host.run(["ss", "--no-header", "--tcp", "--info", "dport", "=", f":{tls.PORT}"], check=True).stdout
    test.equal("connections, the admin queue's and the other's, and those with TLS",
               (sockets.count("ESTAB"), sockets.count("tcp-ulp-tls")), (2, 2))


def _grown(test: Test, kind: Kind, before: Group, after: Group, stage: str, expected: float, shrinks: float = 0.05) -> None:
    """A delay is in its stage; that may grow by so much less."""
    for name in STAGES:
        growth = (after.stages[name] - before.stages[name]) / 1e3
        what = f"{kind.name}: growth of {name}"
        if name == stage:
            test.at_most(what, growth, 1.05 * expected / 1e3, "us")
            test.at_least(what, growth, (1 - shrinks) * expected / 1e3, "us")
        else:
            test.within(f"{what}, where nothing was injected", growth, 0, margin=0.05 * expected / 1e3, unit="us")


def _check_detail(test: Test, kind: Kind, group: Group) -> None:
    ways = sum(group.component("network", way).mean_ns for way in _WAYS)
    test.within(f"{kind.name}: the ways, against the network", ways, group.stages["network"], margin=2, unit="ns")
    parts = next(stage["components"] for stage in group.data["stages"] if stage["id"] == "network")
    told = {part["id"]: part["mean_ns_reason"] if part["mean_ns"] is None else part["mean_ns"] for part in parts}
    for way, of_way in _WAYS.items():
        for part in of_way if way != "transfer" or kind.r2t else ():
            test.equal(f"{kind.name}: {part}", told[part],
                       f"arrival not seen of {group.joined} of {group.joined} commands, as with TLS")
    test.within(f"{kind.name}: drive", drive_of(group) or 0, _SLOW_NS, share=0.05, unit="ns")


def _without(lab: Lab, fast: str) -> dict[Kind, Group]:
    measured: dict[Kind, Group] = {}
    with lab.scope.test("TLS, 1 and 8 at a time: each command is joined") as test:
        _is_tls(test, lab)
        measured = _measure(test, lab, fast, [*_LOADS, *_DEEP])
        for kind in _KINDS:
            stages = ", ".join(f"{stage} {ns / 1e3:.0f}" for stage, ns in measured[kind].stages.items())
            test.note(f"{kind.name}: {stages} us")
    return measured


def _slow_drive(lab: Lab, slow: str, before: dict[Kind, Group]) -> None:
    with lab.scope.test("TLS, in detail, a drive of 5 ms: each command is joined, the drive has the time, and nothing else; of "
                        "arrivals the report says that they were not seen") as test:
        for kind, group in _measure(test, lab, slow, _LOADS, "--detail").items():
            _grown(test, kind, before[kind], group, "storage", _SLOW_NS - _DRIVE_NS)
            _check_detail(test, kind, group)


def _delayed(lab: Lab, fast: str, before: dict[Kind, Group]) -> None:
    with lab.scope.test("TLS with digests, and no flow control of the submission queue: each command is joined, and 5 ms on "
                        "the link are the network's, nobody else's") as test:
        _is_tls(test, lab)
        with netem(lab.bed, HOST_EGRESS, "delay 5ms"):
            after = _measure(test, lab, fast, _LOADS)
        for kind, group in after.items():
            # Both ends are on one processor. Without the delay the target decrypts only when the host has sent everything, and
            # all of that is the network's; with it, one record is decrypted while the next is on its way.
            _grown(test, kind, before[kind], group, "network", (2 if kind.r2t else 1) * _DELAY_NS, 0.12 if kind.r2t else 0.05)


def run(lab: Lab) -> None:
    lacking = tls.lacking(lab)
    if lacking:
        lab.scope.say(f"no connections with TLS here: {lacking}")
        return
    with null_drive(lab, "nullb_tls", completion_nsec=_DRIVE_NS) as drive, \
            null_drive(lab, "nullb_tls_slow", completion_nsec=_SLOW_NS) as slow_drive, \
            exported(lab, "tls", [drive, slow_drive]) as nqn, tls.handshakes(lab), tls.port(lab, nqn):
        with tls.connected(lab, nqn, namespaces=2) as (fast, slow):
            prepare_host(lab.bed, fast, slow, written=True)
            fio.run(lab.host, fast, [_WARM_UP])
            before = _without(lab, fast)
            if before:
                _slow_drive(lab, slow, before)
        if before:
            with tls.connected(lab, nqn, *_DIGESTS, namespaces=2) as (fast, _):
                fio.run(lab.host, fast, [_WARM_UP])
                _delayed(lab, fast, before)
