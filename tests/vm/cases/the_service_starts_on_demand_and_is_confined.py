# SPDX-License-Identifier: GPL-2.0-or-later
"""ntprofd: started by the bus, a user of its own, few capabilities and these hardly ever effective, gone when nobody needs it."""

from __future__ import annotations

import re

from support import fio, privileges
from support.fio import READ_4K, Load
from support.lab import Lab
from support.ntprofctl import KERNEL_UNSUPPORTED, START, ctl, sessions, start_detached, wait_recording

_EXPOSURE_MAX = 2.5
"""Of systemd-analyze security: 0 is confined, 10 is not; polkit has 9.6 on this system."""
_IDLE_SECONDS = 300
_BY_HAND = """
exec 2>&1
dbus-daemon --session --nofork --print-address=3 3>/run/by-hand.address & bus=$!
trap 'kill $bus $daemon; rm -f /run/by-hand.address' EXIT
daemon=
until [ -s /run/by-hand.address ]; do sleep 0.1; done
address=$(cat /run/by-hand.address)
/usr/libexec/ntprof/ntprofd --bus "$address" & daemon=$!
until busctl --address="$address" status org.ntprof1 >/dev/null 2>&1; do sleep 0.1; done
grep Cap /proc/$daemon/status
call() { busctl --address="$address" call org.ntprof1 "$@"; }
session=$(call /org/ntprof1 org.ntprof1.Manager StartSession 'a{sv}' 2 namespace s "$1" keep b true | cut -d'"' -f2)
for _ in $(seq 600); do
  state=$(busctl --address="$address" get-property org.ntprof1 "$session" org.ntprof1.Session State)
  [ "$state" != 's "preparing"' ] && [ "$state" != 's "connecting"' ] && break
  sleep 0.2
done
echo "$state"
call "$session" org.ntprof1.Session Cancel
"""


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


def _without_admin(lab: Lab) -> None:
    host = lab.host
    probes = ("CAP_BPF", "CAP_PERFMON")
    with lab.scope.test("a drop-in without CAP_SYS_ADMIN: probes, and what is lost by that is told") as test:
        with privileges.limited_to(host, *probes):
            with privileges.setting(host, "kernel.perf_event_paranoid", "3"):
                refused = host.run([*START, "--namespace", lab.namespace, "--duration", "1"])
                test.equal("exit status while kprobes are for CAP_SYS_ADMIN only", refused.status, KERNEL_UNSUPPORTED)
                test.contains("why", refused.stderr, "sysctl kernel.perf_event_paranoid=2")
            with privileges.setting(host, "kernel.perf_event_paranoid", "2"):
                inspection = ctl(host, "check", "--json").check().json()
                test.equal("privileges", {key: sorted(inspection["privileges"][key]) for key in ("needed", "permitted", "lacking")},
                           {"needed": sorted(probes), "permitted": sorted(probes), "lacking": []})
                test.contains("why not typed", inspection["programs"]["host"]["why_not_typed"], "need CAP_SYS_ADMIN")
                with privileges.watch(host) as attaching:
                    recording = start_detached(host, lab.namespace)
                    wait_recording(host)
                test.equal("effective while it attached", attaching.others, sorted(probes))
                outcome = fio.run(host, lab.namespace, [Load(READ_4K, 100)])[0]
                report = recording.stop()
                test.equal("commands", report.commands, outcome.ios)
                test.at_least("joined commands", report.joined + sum(report.losses.values()), outcome.ios)
                test.note(f"joined {report.joined} of {outcome.ios}, lost {report.losses}")

    with lab.scope.test("without any capability no session starts, and it is said what to do") as test:
        with privileges.limited_to(host):
            test.equal("told by the daemon", privileges.told(host), {"effective": [], "permitted": []})
            refused = host.run([*START, "--namespace", lab.namespace, "--duration", "1"])
            test.equal("exit status", refused.status, KERNEL_UNSUPPORTED)
            for piece in ("need CAP_BPF and CAP_PERFMON", "AmbientCapabilities="):
                test.contains("why", refused.stderr, piece)
            test.equal("sessions", sessions(host), [])


def _by_hand(lab: Lab) -> None:
    """On a bus of its own: the system's is for the user ntprofd only."""
    host = lab.host
    with lab.scope.test("run by root by hand it keeps of root's capabilities no more than the service has") as test:
        found = host.sh(_BY_HAND, lab.namespace, timeout=300)
        lines = dict(line.split(":\t", 1) for line in found.stdout.splitlines() if ":\t" in line)
        test.equal("permitted", privileges.names(lines["CapPrm"]), sorted(privileges.CAPABILITIES))
        test.equal("effective", privileges.names(lines["CapEff"]), [])
        test.contains("state of a session", found.stdout, "recording")


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
    _without_admin(lab)
    _by_hand(lab)
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
