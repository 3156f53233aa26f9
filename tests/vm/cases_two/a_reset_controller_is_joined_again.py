# SPDX-License-Identifier: GPL-2.0-or-later
"""A controller that resets and connects anew in the middle of a session has new queues on the target: their commands are joined
like those before."""

from __future__ import annotations

from support import breaking
from support.lab_two import Lab


def run(lab: Lab) -> None:
    def reset() -> None:
        lab.host.sh('nvme reset "/dev/$1"; sleep 1', lab.namespace.partition("n1")[0])

    with lab.scope.test("a controller reset: commands of before and after are joined, but for those it caught") as test:
        broken = breaking.while_recording(lab, test, reset)
        test.at_least("joined commands", broken.report.joined, 0.95 * broken.report.sampled)
        test.at_most("commands without the target's side", broken.report.losses.get("no_target", 0), 16)
        test.equal("the target's side ended early", broken.target["ended_early"], None)
