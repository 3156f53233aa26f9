# SPDX-License-Identifier: GPL-2.0-or-later
"""Ground truth: a drive of 5 ms instead of 0.1 ms, and 5 ms on the link in each direction.

The time must show in the stage it was injected in, as often as a command crosses the link, and in no other; and the
latency must grow by what fio sees it grow.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from support import fio
from support.checks import Test
from support.fio import KIB, MIB, READ_4K, WRITE_1M, WRITE_4K, WRITE_64K, Kind, Load
from support.lab import Lab
from support.network import HOST_EGRESS, TARGET_EGRESS, netem
from support.ntprofctl import recorded, session
from support.report import STAGES, Group

DELAY_NS = 5e6
SLOW_NS = 5e6 - 100e3
"""What the slow drive takes more than the other."""

# Let the connection's congestion window grow to what the load needs, in commands of a size of their own.
_WARM_UP = Load(Kind("warm-up", "write", MIB - 4 * KIB, "randwrite"), 20)
_LOADS = [Load(READ_4K, 200), Load(WRITE_4K, 200), Load(WRITE_64K, 100), Load(WRITE_1M, 50)]


@dataclass(frozen=True)
class Seen:
    """One kind of command in one situation."""

    group: Group
    fio_ns: float


@dataclass(frozen=True)
class Injection:
    name: str
    stage: str
    where: str | None
    """Which end of the link; None: the drive."""
    sender: str | None
    """The stage whose calls send what is delayed."""

    def crossings(self, kind: Kind) -> int:
        """How often a command's packets of that direction are on its critical path. Host: the command, and the data that
        an R2T asked for. Target: the R2T, and the response (with the data of a read)."""
        return 2 if self.where and kind.r2t else 1

    def expected_ns(self, kind: Kind) -> float:
        return self.crossings(kind) * DELAY_NS if self.where else SLOW_NS


INJECTIONS = (
    Injection("a drive that takes 5 ms", "storage", None, None),
    Injection("5 ms on what leaves the host", "network", HOST_EGRESS, "host_driver"),
    Injection("5 ms on what leaves the target", "network", TARGET_EGRESS, "target_driver"),
)


def _measure(lab: Lab, namespace: str, where: str | None) -> dict[Kind, Seen]:
    loads = [_WARM_UP, *_LOADS]
    with netem(lab.bed, where, "delay 5ms") if where else contextlib.nullcontext():
        with session(lab.host, namespace) as recording:
            outcomes = fio.run(lab.host, namespace, loads)
    report = recorded(recording)
    return {load.kind: Seen(report.group(load.kind), outcome.lat_ns)
            for load, outcome in zip(loads[1:], outcomes[1:], strict=True)}


def _check(test: Test, kind: Kind, injection: Injection, before: Seen, after: Seen) -> None:
    expected = injection.expected_ns(kind)
    stages = {stage: after.group.stages[stage] - before.group.stages[stage] for stage in STAGES}
    test.within(f"growth of {injection.stage}", stages[injection.stage] / 1e3, expected / 1e3, share=0.05, unit="us")
    for stage, growth in stages.items():
        if stage == injection.stage:
            continue
        # Over loopback the receiver runs inside the sender's call; a delay in between takes that out of its stage.
        shrinks = 0.10 if stage == injection.sender else 0.05
        test.at_most(f"growth of {stage}, where nothing was injected", growth / 1e3, 0.05 * expected / 1e3, "us")
        test.at_least(f"growth of {stage}, where nothing was injected", growth / 1e3, -shrinks * expected / 1e3, "us")
    test.within("growth of the mean latency, against fio's", (after.group.mean_ns - before.group.mean_ns) / 1e3,
                (after.fio_ns - before.fio_ns) / 1e3, share=0.02, unit="us")
    test.equal("largest stage", after.group.largest, injection.stage)


def _row(kind: Kind, injection: str, seen: Seen) -> str:
    stages = "".join(f"{seen.group.stages[stage] / 1e3:14.1f}" for stage in STAGES)
    return f"{kind.name:<15}{injection:<33}{stages}{seen.group.mean_ns / 1e3:11.1f}{seen.fio_ns / 1e3:11.1f}"


def run(lab: Lab) -> None:
    before: dict[Kind, Seen] = {}
    with lab.scope.test("the stages without any delay are measured"):
        before = _measure(lab, lab.namespace, None)
    rows = [f"{'mean us':<15}{'injected':<33}" + "".join(f"{stage:>14}" for stage in STAGES) + f"{'latency':>11}{'fio':>11}"]
    rows += [_row(kind, "nothing", seen) for kind, seen in before.items()]
    for injection in INJECTIONS if before else ():
        after: dict[Kind, Seen] = {}
        with lab.scope.test(f"the stages with {injection.name} are measured"):
            after = _measure(lab, lab.namespace if injection.where else lab.slow_namespace, injection.where)
        for kind, seen in after.items():
            rows.append(_row(kind, injection.name, seen))
            times = "twice" if injection.crossings(kind) == 2 else "once"
            with lab.scope.test(f"{kind.name} with {injection.name}: it shows in {injection.stage}, {times}, "
                                "and nowhere else") as test:
                _check(test, kind, injection, before[kind], seen)
    lab.scope.table("\n".join(rows))
