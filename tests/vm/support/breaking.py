# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions during which something breaks: the recording, a session of the host alone beside it, and what must hold of both."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from . import fio, kernel_log
from .checks import Test
from .lab_two import Lab, account
from .leftovers import Leftovers
from .ntprofctl import recorded, session
from .report import Report

IOPS = 200

# Kernel messages of what is done on purpose.
_EXPECTED = ("reset", "I/O error", "timeout")


@dataclass(frozen=True)
class Broken:
    """What came of it."""

    report: Report
    before: int
    """Commands when it broke."""
    after: int
    """Commands when it had."""

    @property
    def target(self) -> dict[str, object]:
        return dict(self.report.data["targets"][0])


def while_recording(lab: Lab, test: Test, break_it: Callable[[], None], *, before: float = 2, after: float = 3,
                    end_within: float = 60) -> Broken:
    """Record a steady load for some seconds, break something, record for some seconds more, and end: in time, with every
    command accounted for, with nothing left on either machine, and without harm to the session beside it."""
    leftovers = Leftovers(lab.host, lab.target)
    log = kernel_log.mark(lab.host)
    load = fio.start_endless(lab.host, lab.namespace, iops=IOPS)
    try:
        with session(lab.host, lab.namespace, "all", "--no-target") as beside:
            with session(lab.host, lab.namespace) as recording:
                time.sleep(before)
                first = recording.show()["commands"]
                break_it()
                second = recording.show()["commands"]
                time.sleep(after)
                since = time.monotonic()
            test.at_most("time to end the session", time.monotonic() - since, end_within, "s")
        test.true("the load survives it", load.poll() is None)
    finally:
        load.kill()
    report, other = recorded(recording), recorded(beside)
    account(test, report)
    test.at_least("commands before", first, 0.3 * IOPS * before)
    test.at_least("commands after", report.commands - second, 1)
    test.at_least("commands of the session beside it", other.commands, report.commands)
    test.equal("commands of the session beside it that are lost", {key: n for key, n in other.losses.items() if key not in
                                                                   ("in_flight", "retried", "cancelled")}, {})
    leftovers.check(test)
    test.equal("the host's kernel log, but for what was done", [line for line in kernel_log.trouble(lab.host, log)
                                                               if not any(word in line for word in _EXPECTED)], [])
    return Broken(report, first, second)


def works_again(lab: Lab, test: Test) -> None:
    """A new session has both sides."""
    with session(lab.host, lab.namespace) as recording:
        outcome = fio.run(lab.host, lab.namespace, [fio.Load(fio.READ_4K, 200, 2)])[0]
    report = recorded(recording)
    why_not = [path.get("target_reason") for path in report.data["paths"]]
    test.equal(f"targets of the next session (why not: {why_not})", len(report.data["targets"]), 1)
    test.at_least("joined commands of the next session", report.joined, 0.99 * outcome.ios)


def told_why(test: Test, broken: Broken, *pieces: str) -> None:
    """The target's side ended early: the report has when, why, and of how many commands it lacks."""
    target = broken.target
    for piece in pieces:
        test.contains("why the target's side ended", str(target["ended_early"]), piece)
    test.true("the target's side ended early", target["ended_early"])
    test.at_least("joined commands, of those before", broken.report.joined, 0.8 * broken.before)
    test.at_least("commands without the target's side, of those after", broken.report.losses.get("target_gone", 0),
                  0.8 * (broken.report.commands - broken.after))
    test.true("the report warns of it", any("ended after" in warning for warning in broken.report.warnings))
    test.note(f"target: {target['ended_early']}")
