# SPDX-License-Identifier: GPL-2.0-or-later
"""ntprofd: started by the bus, a user of its own, few capabilities and these hardly ever effective, gone when nobody needs it."""

from __future__ import annotations

import re

from support import privileges
from support.lab import Lab
from support.ntprofctl import ctl, sessions, start_detached, wait_recording

_EXPOSURE_MAX = 2.5
"""Of systemd-analyze security: 0 is confined, 10 is not; polkit has 9.6 on this system."""
_IDLE_SECONDS = 300


def _privileges(lab: Lab) -> None:
    host = lab.host
    with lab.scope.test("capabilities are effective only on the thread that attaches, while it does, and as told") as test:
        needed = sorted(ctl(host, "check", "--json").check().json()["privileges"]["needed"])
        test.equal("told by the daemon", privileges.told(host), {"effective": [], "permitted": sorted(privileges.CAPABILITIES)})
        with privileges.watch(host) as attaching:
            recording = start_detached(host, lab.namespace)
            wait_recording(host)
        with privileges.watch(host) as later:
            test.equal("told while it records", privileges.told(host)["permitted"], sorted(privileges.CAPABILITIES))
            recording.stop()
        test.equal("on the threads that load and attach", attaching.others, needed)
        # Reading counters takes CAP_BPF on kernels before 5.19.
        test.equal("on the main thread, but for reading counters", [name for name in attaching.main if name != "CAP_BPF"], [])
        test.equal("on any thread once it records", [name for name in later.main + later.others if name != "CAP_BPF"], [])
        test.note(f"attaching: {', '.join(attaching.others)}; later: {', '.join(later.main) or 'none'}")


def run(lab: Lab) -> None:
    host = lab.host
    with lab.scope.test("the bus starts ntprofd when somebody asks, as its own user with three capabilities") as test:
        host.run(["systemctl", "stop", "ntprofd"], check=True)
        test.equal("state before", host.run(["systemctl", "is-active", "ntprofd"]).stdout.strip(), "inactive")
        check = ctl(host, "check", "--verbose")
        test.equal("exit status of ntprofctl check", check.status, 0)
        for line in ("host side: can be recorded", "target side: can be recorded", "T9  response fully handed to the transport"):
            test.contains("ntprofctl check", check.stdout, line)
        test.equal("state after", host.run(["systemctl", "is-active", "ntprofd"]).stdout.strip(), "active")
        status = privileges.status(host)
        user = host.run(["id", "--user", "ntprofd"], check=True).stdout.strip()
        test.equal("user ids", set(status["Uid"].split()), {user})
        test.equal("no new privileges", status["NoNewPrivs"], "1")
        test.equal("system call filter (2: by program)", status["Seccomp"], "2")
        for which in ("CapPrm", "CapBnd"):
            test.equal(which, privileges.names(status[which]), sorted(privileges.CAPABILITIES))
        for which in ("CapEff", "CapInh", "CapAmb"):
            test.equal(which, privileges.names(status[which]), [])

    _privileges(lab)
    with lab.scope.test("systemd-analyze finds the service confined") as test:
        text = host.run(["systemd-analyze", "security", "--no-pager", "ntprofd.service"], check=True).stdout
        found = re.search(r"Overall exposure level for ntprofd.service: ([\d.]+)", text)
        if test.true("an exposure level", found):
            assert found
            test.at_most("exposure level", float(found.group(1)), _EXPOSURE_MAX)
            test.note(f"exposure level {found.group(1)}")

    with lab.scope.test(f"ntprofd goes after {_IDLE_SECONDS} s without a call or a session, and comes back when asked") as test:
        test.equal("sessions", sessions(host), [])
        host.sh(f"sleep {_IDLE_SECONDS + 20}", timeout=900)
        shown = host.run(["systemctl", "show", "ntprofd", "--property=ActiveState,Result,ExecMainStatus"], check=True).stdout
        test.equal("state", dict(line.split("=") for line in shown.split()),
                   {"ActiveState": "inactive", "Result": "success", "ExecMainStatus": "0"})
        test.equal("exit status of ntprofctl session list", ctl(host, "session", "list").status, 0)
        test.equal("state when asked", host.run(["systemctl", "is-active", "ntprofd"]).stdout.strip(), "active")
