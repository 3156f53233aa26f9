# SPDX-License-Identifier: GPL-2.0-or-later
"""What holds of every kind of I/O, however it is done."""

from __future__ import annotations

from .checks import Test
from .report import STAGES, Group, Report


def of_op(report: Report, op: str) -> list[Group]:
    """Groups of an operation, each command once."""
    return [group for group in report.groups if group.data["op"] == op and not group.data["part_of_other"]]


def flushes(report: Report) -> Group:
    found = of_op(report, "flush")
    assert len(found) == 1, f"{len(found)} groups of flushes"
    return found[0]


def check_all(test: Test, report: Report, losses: dict[str, int] | None = None) -> None:
    """Every command is joined, but for losses that are expected, and of each group the stages are the latency."""
    test.equal("sampled commands", report.sampled, report.commands)
    test.equal("joined commands plus losses, against sampled ones", report.joined + sum(report.losses.values()), report.sampled)
    test.equal("losses by cause", report.losses if losses else report.unexplained, losses or {})
    for group in report.groups:
        name = f"{group.data['op']} {group.data['size_bytes']}"
        if not group.data["with_target"]:
            continue
        test.within(f"{name}: sum of the stages' means, against the mean latency", sum(group.stages.values()), group.mean_ns,
                    margin=1.0, unit="ns")
        test.equal(f"{name}: stages", list(group.stages), list(STAGES))
        for stage, mean in group.stages.items():
            test.at_least(f"{name}: mean of {stage}", mean, 0 if stage == "network" else 1, "ns")


def drive_of(group: Group) -> float | None:
    """The drive's mean time in ns, None where the report says that it is not visible."""
    storage = next(stage for stage in group.data["stages"] if stage["id"] == "storage")
    part = next(part for part in storage["components"] if part["id"] == "drive")
    return None if part["mean_ns"] is None else float(part["mean_ns"])
