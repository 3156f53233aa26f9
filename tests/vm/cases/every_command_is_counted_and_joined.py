# SPDX-License-Identifier: GPL-2.0-or-later
"""Every command of fio is in the report, once, with both sides' records, and its stages add up; nothing else is."""

from __future__ import annotations

from support import fio
from support.checks import Test
from support.fio import KIB, KINDS, READ_128K, READ_4K, WRITE_1M, WRITE_4K, WRITE_64K, Kind, Load, Outcome
from support.lab import Lab
from support.ntprofctl import recorded, session
from support.report import STAGES, Report

_COUNTS = {READ_4K: 1000, WRITE_4K: 1000, WRITE_64K: 300, WRITE_1M: 100, READ_128K: 300}
# A kind that only the other namespace gets.
_ELSEWHERE = Kind("12 KiB reads", "read", 12 * KIB, "randread")


def _check_kind(test: Test, report: Report, kind: Kind, outcome: Outcome) -> None:
    group = report.group(kind)
    test.equal("commands in the report, against fio's I/Os", group.commands, outcome.ios)
    test.equal("sampled commands", group.sampled, outcome.ios)
    test.at_least("joined commands", group.joined, 0.999 * outcome.ios - report.skipped)
    test.within("sum of the stages' means, against the mean latency", sum(group.stages.values()), group.mean_ns,
                margin=1.0, unit="ns")
    test.equal("stages", list(group.stages), list(STAGES))
    for stage in STAGES:
        test.at_least(f"mean of {stage}", group.stages[stage], 0 if stage == "network" else 1, "ns")
    test.at_most("commands with a network time below zero", group.data["network_negative"], 0.001 * outcome.ios)


def _check_all(test: Test, lab: Lab, report: Report, outcomes: list[Outcome]) -> None:
    ios = sum(outcome.ios for outcome in outcomes)
    test.equal("commands of the session, against fio's I/Os", report.commands, ios)
    test.equal("sampled commands", report.sampled, report.commands)
    test.equal("joined commands plus losses, against sampled ones", report.joined + sum(report.losses.values()),
               report.sampled)
    test.equal("losses by cause", report.unexplained, {})
    # A program that was already running on this CPU is skipped (recursion). Nothing may be missing by it.
    test.equal("other losses", {key: n for key, n in report.beside.items() if not key.endswith("_recursion")}, {})
    test.equal("operations and sizes", sorted((g.data["op"], g.data["size_bytes"]) for g in report.groups),
               sorted((kind.op, kind.size) for kind in KINDS))
    test.equal("namespaces in the report", {g.data["namespace"] for g in report.groups}, {lab.namespace})
    test.equal("diskstats' I/Os", report.data["queue_depth"]["diskstats"]["ios"], ios)
    test.within("queue depth by the stages, against diskstats'", report.data["queue_depth"]["from_stages"],
                report.data["queue_depth"]["diskstats"]["avg_qd"], share=0.05)


def run(lab: Lab) -> None:
    for depth in (1, 8):
        loads = [Load(kind, _COUNTS[kind], depth) for kind in KINDS]
        with lab.scope.test(f"with {depth} at a time: every I/O of fio is a command of the report, none is lost, "
                            "none is of another namespace, and both queue depths agree") as test:
            with session(lab.host, lab.namespace) as recording:
                elsewhere = fio.start_endless(lab.host, lab.slow_namespace, _ELSEWHERE)
                # Not in real time: where the kernel preempts (since 7.0 always), such a load takes the processor from who ends
                # its request, as soon as its I/O is done (H8). diskstats' time ends only then.
                outcomes = fio.run(lab.host, lab.namespace, loads, real_time=False)
                elsewhere.kill()
                # Admin commands, a local NVMe drive, and the drives that the target serves from.
                lab.host.run(["nvme", "smart-log", f"/dev/{lab.namespace}"], check=True)
                lab.host.sh('for drive in /dev/nullb* "/dev/$1"; do dd "if=$drive" of=/dev/null bs=16k count=20 iflag=direct; '
                            'done', lab.local_namespace)
            report = recorded(recording)
            _check_all(test, lab, report, outcomes)
        for kind, outcome in zip(KINDS, outcomes, strict=True):
            with lab.scope.test(f"{kind.name}, {depth} at a time: each is joined, and its stages add up") as test:
                _check_kind(test, report, kind, outcome)
