# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may record: root and the members of the group ntprof. Anybody may see which sessions there are."""

from __future__ import annotations

from support import fio
from support.fio import READ_4K, Load
from support.lab import Lab
from support.ntprofctl import START, Report, ctl

_ACCESS_DENIED = 11


def run(lab: Lab) -> None:
    host = lab.host
    host.sh("usermod --append --groups ntprof bob")
    start = [*START, "--namespace", lab.namespace, "--sample", "all", "--detach", "--json"]
    with lab.scope.test("alice, who is in no group, is refused and told why, but may list sessions") as test:
        refused = host.run(start, user="alice")
        test.equal("exit status of session start", refused.status, _ACCESS_DENIED)
        test.contains("what it says", refused.stderr, "group ntprof")
        test.equal("standard output", refused.stdout, "")
        test.equal("exit status of session list", ctl(host, "session", "list", user="alice").status, 0)

    with lab.scope.test("bob, a member of the group ntprof, records; the session is his and root's only") as test:
        started = host.run(start, user="bob", timeout=300)
        test.equal(f"exit status of session start: {started.stderr.strip()}", started.status, 0)
        test.stop_if_failed()
        facts = started.json()
        test.equal("owner", facts["owner"], int(host.run(["id", "--user", "bob"], check=True).stdout))
        outcome = fio.run(host, lab.namespace, [Load(READ_4K, 100)])[0]
        for verb in (("session", "stop"), ("session", "cancel"), ("report",), ("session", "remove")):
            test.equal(f"exit status of {' '.join(verb)} by alice", ctl(host, *verb, facts["id"], user="alice").status,
                       _ACCESS_DENIED)
        test.contains("alice's list", ctl(host, "session", "list", user="alice").stdout, "recording")
        test.equal("exit status of stop by bob", ctl(host, "session", "stop", facts["id"], user="bob").status, 0)
        for user in ("bob", None):
            report = Report(ctl(host, "report", facts["id"], "--json", user=user).check().json())
            test.equal(f"joined commands in the report for {user or 'root'}", report.joined, outcome.ios)
        test.equal("exit status of remove by root", ctl(host, "session", "remove", facts["id"]).status, 0)
