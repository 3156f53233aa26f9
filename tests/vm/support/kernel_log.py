# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel complains of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bed.machine import Machine

_TROUBLE = re.compile(r"BUG|Oops|WARNING|RIP:|Call Trace|general protection|stack guard|refcount_t|hung_task|blocked for more"
                      r"|I/O error|timeout|reset", re.IGNORECASE)
_BEGIN, _END = "------------[ cut here ]------------", "---[ end trace "
# A warning of the kernel's of itself, once a boot, when a host connects again: nvmet_tcp_install_queue() waits for the system's
# workqueue in one that must not. Since 8832cf922151 ("nvmet: use a private workqueue instead of the system workqueue", 5.18)
# it waits for one of nvmet's.
_KNOWN = "workqueue: WQ_MEM_RECLAIM nvmet_tcp_wq:nvmet_tcp_io_work [nvmet_tcp] is flushing !WQ_MEM_RECLAIM events:0x0"


def mark(machine: Machine) -> int:
    """Lines so far."""
    return len(machine.run(["dmesg"], check=True).stdout.splitlines())


def _without_known(lines: Iterable[str]) -> Iterator[str]:
    known = False
    before = ""
    for line in lines:
        known = known or (_BEGIN in before and line.endswith(_KNOWN))
        if not known:
            yield line
        known = known and _END not in line
        before = line


def trouble(machine: Machine, since: int) -> list[str]:
    """Lines since then that tell of trouble."""
    lines = _without_known(machine.run(["dmesg"], check=True).stdout.splitlines()[since:])
    return [line for line in lines if _TROUBLE.search(line)]
