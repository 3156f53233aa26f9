# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may record at a peer: root and the members of the group ntprof, as at home. Peers themselves are root's."""

from __future__ import annotations

from support import fio
from support.fio import READ_4K, Load
from support.lab_two import PEER, Lab
from support.ntprofctl import START, ctl, recorded, session

_ACCESS_DENIED = 11


def run(lab: Lab) -> None:
    host = lab.host
    with lab.scope.test("bob, a member of the group ntprof and not root, records both sides; the target's journal has his "
                        "name") as test:
        host.sh("usermod --append --groups ntprof bob")
        with session(host, lab.namespace, user="bob") as recording:
            outcome = fio.run(host, lab.namespace, [Load(READ_4K, 200)])[0]
        report = recorded(recording)
        test.at_least("joined commands", report.joined, 0.99 * outcome.ios - report.skipped)
        test.contains("the target's journal", lab.target.run(["journalctl", "--unit=ntprofd", "--output=cat"]).stdout, "bob")

    with lab.scope.test("alice, who is in no group, may neither record at a peer nor test, invite or forget one; she may list "
                        "them") as test:
        for argv in ([*START, "--namespace", lab.namespace, "--peer", PEER, "--duration", "1s"],
                     ["ntprofctl", "peer", "invite"], ["ntprofctl", "peer", "test", PEER],
                     ["ntprofctl", "peer", "forget", PEER]):
            refused = host.run(argv, user="alice")
            test.equal(f"exit status of {' '.join(argv[1:3])}: {refused.stderr.strip()}", refused.status, _ACCESS_DENIED)
        shown = ctl(host, "peer", "list", user="alice")
        test.equal(f"exit status of peer list: {shown.stderr.strip()}", shown.status, 0)
        test.contains("peer list", shown.stdout, PEER)

    with lab.scope.test("bob may not invite or forget: peers are root's") as test:
        for verb in (("peer", "invite"), ("peer", "forget", PEER)):
            refused = ctl(host, *verb, user="bob")
            test.equal(f"exit status of {' '.join(verb)}: {refused.stderr.strip()}", refused.status, _ACCESS_DENIED)
