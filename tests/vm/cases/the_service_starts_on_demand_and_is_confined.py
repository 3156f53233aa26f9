# SPDX-License-Identifier: GPL-2.0-or-later
"""ntprofd: started by the bus, a user of its own, four capabilities, gone when nobody needs it."""

from __future__ import annotations

import re

from bed.machine import Machine
from support.lab import Lab
from support.ntprofctl import ctl, sessions

# Numbers of include/uapi/linux/capability.h
_CAPABILITIES = {"CAP_DAC_READ_SEARCH": 2, "CAP_SYS_ADMIN": 21, "CAP_PERFMON": 38, "CAP_BPF": 39}
_MASK = sum(1 << bit for bit in _CAPABILITIES.values())
_EXPOSURE_MAX = 2.5
"""Of systemd-analyze security: 0 is confined, 10 is not; polkit has 9.6 on this system."""
_IDLE_SECONDS = 300


def _status(machine: Machine) -> dict[str, str]:
    text = machine.sh('cat "/proc/$(pgrep -x ntprofd)/status"').stdout
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def _mask(value: str) -> str:
    names = {bit: name for name, bit in _CAPABILITIES.items()}
    return " ".join(names.get(bit, f"capability {bit}") for bit in range(64) if int(value, 16) >> bit & 1)


def run(lab: Lab) -> None:
    host = lab.host
    with lab.scope.test("the bus starts ntprofd when somebody asks, as its own user with four capabilities") as test:
        host.run(["systemctl", "stop", "ntprofd"], check=True)
        test.equal("state before", host.run(["systemctl", "is-active", "ntprofd"]).stdout.strip(), "inactive")
        check = ctl(host, "check", "--verbose")
        test.equal("exit status of ntprofctl check", check.status, 0)
        for line in ("host side: can be recorded", "target side: can be recorded", "T9  response fully handed to the transport"):
            test.contains("ntprofctl check", check.stdout, line)
        test.equal("state after", host.run(["systemctl", "is-active", "ntprofd"]).stdout.strip(), "active")
        status = _status(host)
        user = host.run(["id", "--user", "ntprofd"], check=True).stdout.strip()
        test.equal("user ids", set(status["Uid"].split()), {user})
        test.equal("no new privileges", status["NoNewPrivs"], "1")
        test.equal("system call filter (2: by program)", status["Seccomp"], "2")
        for which in ("CapPrm", "CapBnd"):
            test.equal(which, _mask(status[which]), _mask(f"{_MASK:x}"))
        test.equal("capabilities beyond these", _mask(f"{int(status['CapEff'], 16) & ~_MASK:x}"), "")

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
