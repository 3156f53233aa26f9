# SPDX-License-Identifier: GPL-2.0-or-later
"""Every command of fio is in the report, once, with what the other machine recorded of it, and its stages add up; both choose
the same commands although they exchange no word of any."""

from __future__ import annotations

import math

from support import fio, pairing
from support.checks import Test
from support.fio import READ_4K, READ_128K, WRITE_4K, WRITE_64K, Kind, Load, Outcome
from support.lab_two import PEER, Lab, account
from support.leftovers import Leftovers
from support.ntprofctl import recorded, session
from support.report import STAGES, Report

_LOADS = [Load(READ_4K, 1500, 8), Load(WRITE_4K, 600, 4), Load(WRITE_64K, 150), Load(READ_128K, 100)]
_DRIVE_NS = 100e3
_N = 16
_SIGMAS = 5


def _check_kind(test: Test, report: Report, kind: Kind, outcome: Outcome) -> None:
    group = report.group(kind)
    test.equal(f"{kind.name}: commands in the report, against fio's I/Os", group.commands, outcome.ios)
    test.equal(f"{kind.name}: sampled commands", group.sampled, outcome.ios)
    test.within(f"{kind.name}: sum of the stages' means, against the mean latency", sum(group.stages.values()), group.mean_ns,
                margin=1.0, unit="ns")
    test.equal(f"{kind.name}: stages", list(group.stages), list(STAGES))
    test.at_least(f"{kind.name}: mean of storage, of a drive of 100 us", group.stages["storage"], _DRIVE_NS, "ns")
    for stage in STAGES:
        test.at_least(f"{kind.name}: mean of {stage}", group.stages[stage], 1, "ns")
    # The network's time is what both sides leave of it. It is below zero where the host has the response before the target's
    # send function returns, which a busy computer makes of one or the other; of wrong pairs it would be of half of them.
    test.at_most(f"{kind.name}: commands with a network time below zero", group.data["network_negative"], 0.15 * outcome.ios)
    test.at_most(f"{kind.name}: mean latency, against fio's", group.mean_ns, outcome.lat_ns, "ns")
    test.note(f"{kind.name}: mean {group.mean_ns / 1e3:.0f} us: "
              + ", ".join(f"{stage} {group.stages[stage] / 1e3:.0f}" for stage in STAGES))


def _every_command(lab: Lab) -> None:
    with lab.scope.test("every I/O of fio is a command of the report, all but 1 in 1000 joined, the rest lost by cause; the "
                        "stages add up") as test:
        leftovers = Leftovers(lab.host, lab.target)
        with session(lab.host, lab.namespace) as recording:
            outcomes = fio.run(lab.host, lab.namespace, _LOADS)
        report = recorded(recording)
        total = sum(outcome.ios for outcome in outcomes)
        account(test, report)
        test.equal("commands of the session, against fio's I/Os", report.commands, total)
        test.equal("sampled commands", report.sampled, total)
        test.at_least("joined commands", report.joined, 0.999 * total - report.skipped)
        test.equal("losses by cause", report.unexplained, {})
        for load, outcome in zip(_LOADS, outcomes, strict=True):
            _check_kind(test, report, load.kind, outcome)
        targets = report.data["targets"]
        releases = lab.bed.facts.releases
        test.equal("target machines", [(t["peer"], t["name"], t["kernel"]) for t in targets],
                   [(PEER, "target", releases["target"])])
        test.equal("kernel of the host", report.data["host"]["kernel"], releases["host"])
        test.equal("ended early", [t["ended_early"] for t in targets], [None])
        leftovers.check(test)

    with lab.scope.test("the target's journal tells of the request, with the peer's name and fingerprint, and who "
                        "asked") as test:
        journal = lab.target.run(["journalctl", "--unit=ntprofd", "--output=cat", "--no-pager"], check=True).stdout
        test.contains("journal", journal, pairing.fingerprint(lab.host))
        test.contains("journal", journal, pairing.host_nqn(lab.host))
        test.contains("journal", journal, "host")


def _sampled(lab: Lab) -> None:
    with lab.scope.test(f"--sample 1/{_N}: both machines choose the same commands, 1 in {_N}; all are counted") as test:
        with session(lab.host, lab.namespace, f"1/{_N}") as recording:
            outcomes = fio.run(lab.host, lab.namespace, [Load(READ_4K, 3000, 8), Load(WRITE_4K, 1000, 4)])
        report = recorded(recording)
        total, share = sum(outcome.ios for outcome in outcomes), 1 / _N
        account(test, report)
        test.equal("commands of the session, against fio's I/Os", report.commands, total)
        test.within("sampled commands", report.sampled, total * share, margin=_SIGMAS * math.sqrt(total * share * (1 - share)))
        # Were the choices independent, 15 in 16 of the host's would have no partner.
        test.equal("losses by cause", report.unexplained, {})
        test.at_most("target records without the host's", report.beside.get("target_without_host", 0), report.skipped)


def run(lab: Lab) -> None:
    _every_command(lab)
    _sampled(lab)
