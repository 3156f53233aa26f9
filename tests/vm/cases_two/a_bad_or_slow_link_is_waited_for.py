# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets lost and out of order, and a link that takes the peers' bytes slower than they come: later, or counted, never
hung."""

from __future__ import annotations

import time

from support import fio, network
from support.fio import READ_4K, WRITE_64K, Load
from support.lab_two import Lab, account
from support.leftovers import Leftovers
from support.network import HOST_EGRESS, TARGET_EGRESS
from support.ntprofctl import recorded, session

_BAD = "loss 1% delay 1ms reorder 5% 50%"
_END_SECONDS = 60
"""The target's last records are waited for 30 s at most."""


def run(lab: Lab) -> None:
    with lab.scope.test("1 % of the packets lost and 5 % out of order, both ways: every I/O is counted, all but 1 in 100 "
                        "joined") as test:
        leftovers = Leftovers(lab.host, lab.target)
        with network.netem(lab.bed, HOST_EGRESS, _BAD), network.netem(lab.bed, TARGET_EGRESS, _BAD), \
                session(lab.host, lab.namespace) as recording:
            outcomes = fio.run(lab.host, lab.namespace, [Load(READ_4K, 500, 8), Load(WRITE_64K, 50, 2)])
        report = recorded(recording)
        account(test, report)
        test.equal("commands of the session, against fio's I/Os", report.commands, sum(outcome.ios for outcome in outcomes))
        test.at_least("joined commands", report.joined, 0.99 * report.sampled - report.skipped)
        test.equal("the target's side ended early", report.data["targets"][0]["ended_early"], None)
        leftovers.check(test)

    with lab.scope.test("the peers' bytes pass at 64 kbit/s only: the load does not feel it, what comes late is joined, what "
                        "does not is counted, and the session ends in time") as test:
        leftovers = Leftovers(lab.host, lab.target)
        with network.slow_peer(lab.bed, TARGET_EGRESS, "64kbit"):
            with session(lab.host, lab.namespace) as recording:
                outcome = fio.run(lab.host, lab.namespace, [Load(READ_4K, 4000, 8)])[0]
                since = time.monotonic()
            test.at_most("time to end the session", time.monotonic() - since, _END_SECONDS, "s")
        report = recorded(recording)
        account(test, report)
        test.equal("commands of the session, against fio's I/Os", report.commands, outcome.ios)
        lacking = {key: n for key, n in report.losses.items() if key not in ("link_full", "target_gone")}
        test.equal("losses by cause, but for those of the link", lacking, {})
        test.at_least("joined commands", report.joined, 100)
        gone = report.data["targets"][0]["ended_early"]
        test.equal("the report tells why some lack the target's side, and only then", bool(gone),
                   "target_gone" in report.losses)
        test.note(f"target: {gone}")
        leftovers.check(test)
