# SPDX-License-Identifier: GPL-2.0-or-later
"""NVMe/RDMA between two clocks: every command is joined with what the other machine recorded of it, and 20 ms on the link, each
way, show in the network's right way, and nowhere else.

Soft-RoCE is slow, and drops what it cannot hold: few commands at a time, and medians.
"""

from __future__ import annotations

from support import fio, network, rdma
from support.checks import Test
from support.fio import KIB, READ_4K, READ_128K, WRITE_4K, WRITE_64K, Kind, Load
from support.lab_two import PEER, Lab, account
from support.network import HOST_EGRESS, TARGET_EGRESS
from support.ntprofctl import recorded, session
from support.rdma import Rdma
from support.report import STAGES, Group

_LOADS = [Load(READ_4K, 200, 2), Load(WRITE_4K, 100, 2), Load(WRITE_64K, 30), Load(READ_128K, 20)]
_LINK_NS = 20e6
_NOISE_NS = 4e6
# Sizes that nothing else has, so that the delayed commands are tables of their own.
_SLOW_READS = Kind("8 KiB reads", "read", 8 * KIB, "randread")
_SLOW_WRITES = Kind("32 KiB writes", "write", 32 * KIB, "randwrite")
_DELAYED = [Load(_SLOW_READS, 30), Load(_SLOW_WRITES, 15)]


def _every_command(lab: Lab, over: Rdma) -> None:
    with lab.scope.test("RDMA: every I/O of fio is a command of the report, joined with the target machine's record; the "
                        "stages add up") as test:
        with session(lab.host, over.namespace, "all", "--detail") as recording:
            outcomes = fio.run(lab.host, over.namespace, _LOADS)
        report = recorded(recording)
        account(test, report)
        total = sum(outcome.ios for outcome in outcomes)
        test.equal("commands of the session, against fio's I/Os", report.commands, total)
        test.at_least("joined commands", report.joined, 0.999 * total - report.skipped)
        test.equal("losses by cause", report.unexplained, {})
        test.equal("target machines", [target["peer"] for target in report.data["targets"]], [PEER])
        test.equal("transport", [path["transport"] for path in report.data["paths"]], ["rdma"])
        for load, outcome in zip(_LOADS, outcomes, strict=True):
            group = report.group(load.kind)
            test.equal(f"{load.kind.name}: commands in the report, against fio's I/Os", group.commands, outcome.ios)
            test.within(f"{load.kind.name}: sum of the stages' means, against the mean latency", sum(group.stages.values()),
                        group.mean_ns, margin=1.0, unit="ns")
            test.at_most(f"{load.kind.name}: mean latency, against fio's", group.mean_ns, outcome.lat_ns, "ns")
            # The send may be acknowledged only after the response: that is no network time.
            test.at_least(f"{load.kind.name}: mean until the response's send completes",
                          group.component("target_driver", "send_completion").mean_ns, 1, "ns")
            test.note(f"{load.kind.name}: mean {group.mean_ns / 1e3:.0f} us: "
                      + ", ".join(f"{stage} {group.stages[stage] / 1e3:.0f}" for stage in STAGES))


def _ways(group: Group) -> dict[str, float]:
    return {way: group.component("network", way).mean_ns for way in ("request", "transfer", "response")}


def _check_stages(test: Test, kind: Kind, group: Group, before: Group, crossings: int) -> None:
    """Nothing else of a command's size is compared than the stages that do not depend on it."""
    test.at_least(f"{kind.name}: median network", group.stages_p50["network"] / 1e6, crossings * _LINK_NS / 1e6, "ms")
    for stage in STAGES:
        if stage != "network":
            test.at_most(f"{kind.name}: median {stage}, above that of a {before.data['size_bytes']} byte command without delay",
                         (group.stages_p50[stage] - before.stages_p50[stage]) / 1e6, _NOISE_NS / 1e6, "ms")
    test.equal(f"{kind.name}: largest stage", group.largest, "network")


def _directions(lab: Lab, over: Rdma) -> None:
    for where, way, other in ((HOST_EGRESS, "request", "response"), (TARGET_EGRESS, "response", "request")):
        with lab.scope.test(f"RDMA, 20 ms on the {where} some seconds into a session: the {way} takes them, the {other} does "
                            "not; a write fetched by RDMA READ waits for them once more") as test:
            with session(lab.host, over.namespace) as recording:
                fio.run(lab.host, over.namespace, [Load(READ_4K, 200), Load(WRITE_64K, 10)])
                with network.netem(lab.bed, where, "delay 20ms"):
                    fio.run(lab.host, over.namespace, _DELAYED)
            report = recorded(recording)
            account(test, report)
            quick, slow = report.group(READ_4K), report.group(_SLOW_READS)
            before, after = _ways(quick), _ways(slow)
            margin = (quick.component("network", way).margin_ns + slow.component("network", way).margin_ns) / 1e6
            test.note(", ".join(f"{name}: {before[name] / 1e6:.2f}, then {after[name] / 1e6:.2f} ms" for name in before)
                      + f", margins {margin:.2f} ms")
            # Together less than what was injected: in the other way it could not be taken for noise.
            test.at_most("margin", margin, 0.3 * _LINK_NS / 1e6, "ms")
            for name, expected in ((way, before[way] + _LINK_NS), (other, before[other])):
                test.within(f"{name} of the delayed reads", after[name] / 1e6, expected / 1e6,
                            margin=margin + 0.45 * _LINK_NS / 1e6, unit="ms")
            _check_stages(test, _SLOW_READS, slow, quick, 1)
            writes = report.group(_SLOW_WRITES)
            test.at_least("transfer of the delayed writes by RDMA READ", _ways(writes)["transfer"] / 1e6, _LINK_NS / 1e6, "ms")
            _check_stages(test, _SLOW_WRITES, writes, report.group(WRITE_64K), 2)


def run(lab: Lab) -> None:
    with rdma.connected(lab.bed) as over:
        _every_command(lab, over)
        _directions(lab, over)
