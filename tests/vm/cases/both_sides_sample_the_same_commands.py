# SPDX-License-Identifier: GPL-2.0-or-later
"""--sample 1/N and auto: host and target choose the same commands with no word exchanged."""

from __future__ import annotations

import math

from support import fio
from support.fio import READ_4K, WRITE_4K, WRITE_64K, Load
from support.lab import Lab
from support.ntprofctl import recorded, session

_N = 16
_LOADS = [Load(READ_4K, 4000, 8), Load(WRITE_4K, 2000, 4), Load(WRITE_64K, 500)]
_SAMPLED_PER_S = 2000
_SIGMAS = 5


def _fraction(lab: Lab) -> None:
    with lab.scope.test(f"--sample 1/{_N}: both sides choose the same commands, 1 in {_N}; all are counted") as test:
        with session(lab.host, lab.namespace, f"1/{_N}") as recording:
            outcomes = fio.run(lab.host, lab.namespace, _LOADS)
        report = recorded(recording)
        total = sum(outcome.ios for outcome in outcomes)
        test.equal("commands of the session, against fio's I/Os", report.commands, total)
        test.equal("joined commands plus losses, against sampled ones", report.joined + sum(report.losses.values()),
                   report.sampled)
        test.equal("losses by cause", report.unexplained, {})
        test.at_most("target records without the host's", report.beside.get("target_without_host", 0), report.skipped)
        share = 1 / _N
        test.within("sampled commands", report.sampled, total * share,
                    margin=_SIGMAS * math.sqrt(total * share * (1 - share)))
        for load, outcome in zip(_LOADS, outcomes, strict=True):
            group = report.group(load.kind)
            test.equal(f"{load.kind.name}: commands", group.commands, outcome.ios)
            test.within(f"{load.kind.name}: rate of all commands", group.data["rate_per_s"], outcome.ios / report.seconds,
                        share=0.001, unit="/s")
            test.within(f"{load.kind.name}: sampled commands", group.sampled, outcome.ios * share,
                        margin=_SIGMAS * math.sqrt(outcome.ios * share * (1 - share)))
        test.note(f"{report.sampled} of {report.commands} sampled, {report.joined} joined")


def _auto(lab: Lab) -> None:
    with lab.scope.test(f"--sample auto: about {_SAMPLED_PER_S} commands a second of more are sampled, all are counted") as test:
        with session(lab.host, lab.namespace, "auto") as recording:
            # Not in real time, or ntprofd on the same CPU has no turn to look at the rate.
            outcome = fio.run(lab.host, lab.namespace, [Load(READ_4K, 9000, 8)], real_time=False)[0]
        report = recorded(recording)
        sampled_rate = report.sampled / outcome.seconds
        test.note(f"{sampled_rate:.0f} of {outcome.iops:.0f} commands/s sampled, {report.joined} of {report.sampled} joined")
        test.equal("commands of the session, against fio's I/Os", report.commands, outcome.ios)
        test.at_least("rate of the load", outcome.iops, 1.1 * _SAMPLED_PER_S, "/s")
        test.within("rate of sampled commands", sampled_rate, _SAMPLED_PER_S, share=0.25, unit="/s")
        test.equal("joined commands plus losses, against sampled ones", report.joined + sum(report.losses.values()),
                   report.sampled)
        # What one side did not sample yet, or any more, when the threshold changed.
        unexplained = {key: n for key, n in report.losses.items() if key != "threshold"}
        test.equal("losses by cause, but for those of a changed threshold", unexplained, {})
        test.within("queue depth by the stages, against diskstats'", report.data["queue_depth"]["from_stages"],
                    report.data["queue_depth"]["diskstats"]["avg_qd"], share=0.05)


def run(lab: Lab) -> None:
    _fraction(lab)
    _auto(lab)
