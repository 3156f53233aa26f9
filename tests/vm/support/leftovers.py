# SPDX-License-Identifier: GPL-2.0-or-later
"""What a session may not leave behind: files, and anything of its in the kernel."""

from __future__ import annotations

from bed.machine import Machine

from . import ntprofctl
from .checks import Test

# systemd's own, and those of services while they run, are no session's.
_FILES = r"""
find /tmp /var/tmp /dev/shm /run /var/lib /etc/ntprof \( -path /run/systemd -o -path /run/udev -o -path /run/log -o \
  -path /var/lib/systemd -o -name 'systemd-private-*' \) -prune -o -print 2>/dev/null || true
"""


def files(machine: Machine) -> set[str]:
    return set(machine.sh(_FILES).stdout.splitlines())


class Leftovers:
    """Compares machines with what they were when this was made."""

    def __init__(self, *machines: Machine) -> None:
        self._before = {machine: files(machine) for machine in machines}

    def check(self, test: Test) -> None:
        for machine, before in self._before.items():
            test.equal(f"left in the kernel of the {machine.role}", ntprofctl.left_attached(machine), [])
            test.equal(f"files left on the {machine.role}", sorted(files(machine) - before), [])
