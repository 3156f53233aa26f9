# SPDX-License-Identifier: GPL-2.0-or-later
"""No packet for 8 s in the middle of a session: it goes on, and what comes late is joined, or counted as gone."""

from __future__ import annotations

import time

from support import breaking, fio, network
from support.lab_two import Lab

_SECONDS = 8


def run(lab: Lab) -> None:
    def cut() -> None:
        with network.cut(lab.bed):
            time.sleep(_SECONDS)

    def unplug() -> None:
        lab.target.sh(f"ip link set vt down; sleep {_SECONDS}; ip link set vt up")

    for what, break_it in (("lose every packet", cut), ("lose their link", unplug)):
        with lab.scope.test(f"host and target {what} for {_SECONDS} s: commands of before are joined, all are accounted for, "
                            "and the next session has both sides") as test:
            broken = breaking.while_recording(lab, test, break_it, after=16)
            test.at_least("joined commands, of those before", broken.report.joined, 0.8 * broken.before)
            if broken.target["ended_early"]:
                breaking.told_why(test, broken)
            else:
                # Those under way when it was cut may take longer than a record waits for its partner.
                test.at_most("commands without the target's side, while it recorded on", sum(broken.report.losses.values()),
                             fio.ENDLESS_DEPTH)
            breaking.works_again(lab, test)
