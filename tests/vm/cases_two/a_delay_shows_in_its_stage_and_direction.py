# SPDX-License-Identifier: GPL-2.0-or-later
"""Ground truth between two clocks: 20 ms on the link, each way, show in the network, as often as a command meets them, and in
no other stage; and --detail tells the two ways of the link apart. A slow drive, and all else, is the matrix's
(the_matrix_is_true.py).

Medians, and injected times that are large beside what else two machines on a busy computer do.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from support import fio, network
from support.checks import Test
from support.fio import KIB, READ_4K, WRITE_4K, WRITE_64K, Kind, Load
from support.lab_two import Lab
from support.network import HOST_EGRESS, TARGET_EGRESS
from support.ntprofctl import recorded, session
from support.report import STAGES, Component, Group

_LINK_NS = 20e6
_LOADS = [Load(READ_4K, 120), Load(WRITE_4K, 120), Load(WRITE_64K, 60)]
# A size that nothing else has, so that these commands are a table of their own.
_DELAYED = Load(Kind("8 KiB reads", "read", 8 * KIB, "randread"), 80)


@dataclass(frozen=True)
class Injection:
    name: str
    where: str
    """Which end of the link."""

    @staticmethod
    def expected_ns(kind: Kind) -> float:
        """A write with an R2T crosses the link twice each way."""
        return _LINK_NS * (2 if kind.r2t else 1)


_INJECTIONS = (
    Injection("20 ms on what leaves the host", HOST_EGRESS),
    Injection("20 ms on what leaves the target", TARGET_EGRESS),
)


def _measure(lab: Lab, where: str | None) -> dict[Kind, Group]:
    with network.netem(lab.bed, where, "delay 20ms") if where else contextlib.nullcontext():
        with session(lab.host, lab.namespace) as recording:
            fio.run(lab.host, lab.namespace, _LOADS)
    return {load.kind: recorded(recording).group(load.kind) for load in _LOADS}


def _check(test: Test, kind: Kind, injection: Injection, before: Group, after: Group) -> None:
    expected = injection.expected_ns(kind)
    growth = {stage: after.stages_p50[stage] - before.stages_p50[stage] for stage in STAGES}
    test.note(f"{kind.name}: " + ", ".join(f"{stage} {ns / 1e6:+.2f} ms" for stage, ns in growth.items()))
    test.within(f"{kind.name}: growth of network", growth["network"] / 1e6, expected / 1e6, share=0.2, unit="ms")
    for stage in STAGES:
        if stage != "network":
            test.at_most(f"{kind.name}: growth of {stage}, where nothing was injected", abs(growth[stage]) / 1e6,
                         0.2 * expected / 1e6, "ms")
    test.equal(f"{kind.name}: largest stage", after.largest, "network")


def _stages(lab: Lab) -> None:
    before: dict[Kind, Group] = {}
    with lab.scope.test("the stages without any delay are measured"):
        before = _measure(lab, None)
    for injection in _INJECTIONS if before else ():
        with lab.scope.test(f"{injection.name}: the network has it, within a fifth, and no other stage has as much") as test:
            after = _measure(lab, injection.where)
            for kind, group in after.items():
                _check(test, kind, injection, before[kind], group)


def _ways(group: Group) -> dict[str, Component]:
    return {way: group.component("network", way) for way in ("request", "response")}


def _directions(lab: Lab) -> None:
    for where, way, other in ((HOST_EGRESS, "request", "response"), (TARGET_EGRESS, "response", "request")):
        with lab.scope.test(f"20 ms on the {where} some seconds into a session: the {way} takes them, the {other} does not, "
                            "within what the report says it can be off by") as test:
            with session(lab.host, lab.namespace) as recording:
                fio.run(lab.host, lab.namespace, [Load(READ_4K, 1500, 1)])
                with network.netem(lab.bed, where, "delay 20ms"):
                    fio.run(lab.host, lab.namespace, [_DELAYED])
            report = recorded(recording)
            before, after = _ways(report.group(READ_4K)), _ways(report.group(_DELAYED.kind))
            for name in (way, other):
                test.note(f"{name}: {before[name].mean_ns / 1e6:.2f} +- {before[name].margin_ns / 1e6:.2f} ms, then "
                          f"{after[name].mean_ns / 1e6:.2f} +- {after[name].margin_ns / 1e6:.2f} ms")
            # A margin of half of the injected time would tell nothing.
            test.at_most("margin", after[way].margin_ns / 1e6, 0.25 * _LINK_NS / 1e6, "ms")
            test.within(f"{way} of the delayed commands", after[way].mean_ns / 1e6, (before[way].mean_ns + _LINK_NS) / 1e6,
                        share=0.15,
                        margin=(before[way].margin_ns + after[way].margin_ns) / 1e6, unit="ms")
            test.within(f"{other} of the delayed commands", after[other].mean_ns / 1e6, before[other].mean_ns / 1e6, share=0.15,
                        margin=(before[other].margin_ns + after[other].margin_ns) / 1e6 + 2, unit="ms")


def run(lab: Lab) -> None:
    _stages(lab)
    _directions(lab)
