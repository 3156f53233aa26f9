# SPDX-License-Identifier: GPL-2.0-or-later
"""NVMe/RDMA: every command is in the report, once, with both sides' records; its stages add up, its mean is what bpftrace
measures, a slow drive shows in storage only; and a namespace with paths by TCP and RDMA is one report."""

from __future__ import annotations

from support import fio, latency, rdma
from support.checks import Test
from support.fio import READ_4K, READ_128K, WRITE_1M, WRITE_4K, WRITE_64K, Kind, Load, Outcome
from support.lab import Lab
from support.ntprofctl import recorded, session
from support.rdma import Rdma
from support.report import STAGES, Group, Report

_COUNTS = {READ_4K: 120, WRITE_4K: 120, WRITE_64K: 40, WRITE_1M: 5, READ_128K: 40}
_FLUSHES = 10
_FLUSH = """
import os, sys
for _ in range(int(sys.argv[2])):
    os.fsync(os.open(sys.argv[1], os.O_RDWR))
"""
_DRIVE_NS = 100e3
_SLOW_NS = 5e6 - _DRIVE_NS
_BED_NQN = "nqn.2026-01.org.ntprof:bed"


def _fetched(kind: Kind) -> bool:
    """By RDMA READ: nvmet-rdma takes up to 4 KiB in the capsule."""
    return kind.op == "write" and kind.size > 4 * fio.KIB


def _check_kind(test: Test, group: Group, kind: Kind, outcome: Outcome) -> None:
    test.equal(f"{kind.name}: commands in the report, against fio's I/Os", group.commands, outcome.ios)
    test.equal(f"{kind.name}: joined commands", group.joined, outcome.ios)
    test.within(f"{kind.name}: sum of the stages' means, against the mean latency", sum(group.stages.values()), group.mean_ns,
                margin=1.0, unit="ns")
    test.at_least(f"{kind.name}: mean of storage", group.stages["storage"], _DRIVE_NS, "ns")
    for stage in STAGES:
        test.at_least(f"{kind.name}: mean of {stage}", group.stages[stage], 1, "ns")
    transfer = group.component("network", "transfer").mean_ns
    if _fetched(kind):
        test.at_least(f"{kind.name}: mean of the transfer by RDMA READ", transfer, 1, "ns")
    else:
        test.within(f"{kind.name}: mean of the transfer by RDMA READ, of which it has none", transfer, 0, margin=1, unit="ns")
    test.note(f"{kind.name}: mean {group.mean_ns / 1e3:.0f} us: "
              + ", ".join(f"{stage} {group.stages[stage] / 1e3:.0f}" for stage in STAGES))


def _check_all(test: Test, report: Report, outcomes: list[Outcome], others: int = 0) -> None:
    ios = sum(outcome.ios for outcome in outcomes) + others
    test.equal("commands of the session, against fio's I/Os", report.commands, ios)
    test.equal("joined commands plus losses, against all", report.joined + sum(report.losses.values()), ios)
    test.equal("losses by cause", report.unexplained, {})


def _every_command(lab: Lab, over: Rdma) -> dict[Kind, Group]:
    """What was measured with one at a time."""
    kinds = list(_COUNTS)
    alone: dict[Kind, Group] = {}
    with lab.scope.test("RDMA, one at a time: every I/O of fio is joined, the stages add up, and the mean latency of each kind is "
                        "within 2 % of what bpftrace measures in the same run") as test:
        with session(lab.host, over.namespace) as recording, \
                latency.measured(lab.host, over.namespace, over.drive) as independent:
            outcomes = fio.run(lab.host, over.namespace, [Load(kind, _COUNTS[kind]) for kind in kinds])
        report = recorded(recording)
        _check_all(test, report, outcomes)
        for kind, outcome in zip(kinds, outcomes, strict=True):
            _check_kind(test, report.group(kind), kind, outcome)
            latency.compare(test, report, kind, independent)
            alone[kind] = report.group(kind)

    with lab.scope.test("RDMA, eight at a time and in detail: every I/O is joined, and its components add up, too") as test:
        with session(lab.host, over.namespace, "all", "--detail") as recording:
            outcomes = fio.run(lab.host, over.namespace, [Load(kind, _COUNTS[kind], 8) for kind in kinds])
            lab.host.run(["python3", "-c", _FLUSH, f"/dev/{over.namespace}", str(_FLUSHES)], check=True)
        report = recorded(recording)
        _check_all(test, report, outcomes, _FLUSHES)
        for kind, outcome in zip(kinds, outcomes, strict=True):
            group = report.group(kind)
            _check_kind(test, group, kind, outcome)
            for whole, parts in (("request", ("request_wire", "target_receive")), ("response", ("response_wire", "host_receive")),
                                 ("transfer", ("transfer_wire", "transfer_target_receive"))):
                test.within(f"{kind.name}: parts of the {whole}",
                            sum(group.component("network", part).mean_ns for part in parts),
                            group.component("network", whole).mean_ns, margin=2, unit="ns")
            test.at_least(f"{kind.name}: mean of invalidation and send completion",
                          group.component("host_driver", "invalidation").mean_ns, 0, "ns")
            test.at_least(f"{kind.name}: mean until the response's send completes",
                          group.component("target_driver", "send_completion").mean_ns, 1, "ns")
            test.at_least(f"{kind.name}: mean of the drive", group.component("storage", "drive").mean_ns, _DRIVE_NS, "ns")
        flushes = [group for group in report.groups if group.data["op"] == "flush"]
        test.equal("flushes, and joined ones", [(group.commands, group.joined) for group in flushes], [(_FLUSHES, _FLUSHES)])


    return alone


def _slow_drive(lab: Lab, over: Rdma, alone: dict[Kind, Group]) -> None:
    loads = [Load(READ_4K, 40), Load(WRITE_64K, 20)]
    with lab.scope.test("RDMA, a drive that takes 5 ms: storage has it, and nothing else") as test:
        with session(lab.host, over.slow_namespace) as recording:
            fio.run(lab.host, over.slow_namespace, loads)
        for load in loads:
            before, after = alone[load.kind].stages, recorded(recording).group(load.kind).stages
            test.within(f"{load.kind.name}: growth of storage", (after["storage"] - before["storage"]) / 1e3, _SLOW_NS / 1e3,
                        share=0.05, unit="us")
            for stage in STAGES:
                if stage != "storage":
                    test.at_most(f"{load.kind.name}: growth of {stage}, where nothing was injected",
                                 abs(after[stage] - before[stage]) / 1e3, 0.05 * _SLOW_NS / 1e3, "us")


def _two_transports(lab: Lab) -> None:
    loads = [Load(READ_4K, 200, 4), Load(WRITE_64K, 40, 2)]
    with lab.scope.test("a namespace with a path by TCP and one by RDMA: both are recorded, and each command joined") as test:
        with rdma.second_path(lab.bed, _BED_NQN):
            with session(lab.host, lab.namespace) as recording:
                outcomes = fio.run(lab.host, lab.namespace, loads)
        report = recorded(recording)
        _check_all(test, report, outcomes)
        test.equal("transports of the paths", sorted(path["transport"] for path in report.data["paths"]), ["rdma", "tcp"])
        for load, outcome in zip(loads, outcomes, strict=True):
            for address, group in report.by_path(load.kind).items():
                test.within(f"{load.kind.name}: commands by {address}", group.commands, outcome.ios / 2, share=0.2)


def run(lab: Lab) -> None:
    with rdma.connected(lab.bed) as over:
        alone = _every_command(lab, over)
        _slow_drive(lab, over, alone)
        _two_transports(lab)
