# SPDX-License-Identifier: GPL-2.0-or-later
"""The time of day of one machine is set by an hour, or by ten years: what is measured is CLOCK_MONOTONIC, and peers know each
other by their certificates' fingerprints, not by dates in them."""

from __future__ import annotations

from support import breaking
from support.lab_two import Lab

_HOUR = 3600
_YEARS = 10 * 365 * 86400


def _step(lab: Lab, seconds: int) -> None:
    lab.target.sh('date --set="@$(($(date +%s) + $1))" > /dev/null', str(seconds))


def run(lab: Lab) -> None:
    with lab.scope.test("the target's clock is set an hour ahead in a session: all but 1 in 100 commands are joined, and no "
                        "time is an hour off") \
            as test:
        try:
            broken = breaking.while_recording(lab, test, lambda: _step(lab, _HOUR))
        finally:
            _step(lab, -_HOUR)
        test.at_least("joined commands", broken.report.joined, 0.99 * broken.report.sampled - broken.report.skipped)
        test.equal("the target's side ended early", broken.target["ended_early"], None)
        for group in broken.report.groups:
            if group.data["with_target"]:
                # An hour's error would make it all or none of those after; a busy computer makes a few.
                test.at_most("commands with a network time below zero", group.data["network_negative"], 0.2 * group.joined)
                test.at_most("mean latency", group.mean_ns, 1e9, "ns")

    with lab.scope.test("the target's clock is ten years behind, before its certificate was made: a session has both "
                        "sides") as test:
        _step(lab, -_YEARS)
        try:
            lab.target.sh("systemctl stop ntprof-peerd.service")    # so that the link is made anew
            breaking.works_again(lab, test)
        finally:
            _step(lab, _YEARS)
