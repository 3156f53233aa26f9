# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel complains of."""

from __future__ import annotations

import re

from bed.machine import Machine

_TROUBLE = re.compile(r"BUG|Oops|WARNING|RIP:|Call Trace|general protection|stack guard|refcount_t|hung_task|blocked for more"
                      r"|I/O error|timeout|reset", re.IGNORECASE)


def mark(machine: Machine) -> int:
    """Lines so far."""
    return len(machine.run(["dmesg"], check=True).stdout.splitlines())


def trouble(machine: Machine, since: int) -> list[str]:
    """Lines since then that tell of trouble."""
    lines = machine.run(["dmesg"], check=True).stdout.splitlines()[since:]
    return [line for line in lines if _TROUBLE.search(line)]
