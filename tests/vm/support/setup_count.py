# SPDX-License-Identifier: GPL-2.0-or-later
"""How many commands of each opcode the kernel itself counts for a namespace: a histogram of its tracepoint nvme_setup_cmd."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from bed.machine import Machine

_TRIGGER = "/sys/kernel/tracing/events/nvme/nvme_setup_cmd/trigger"
_BUCKET = re.compile(r"opcode:\s*(\d+)\s*}\s*hitcount:\s*(\d+)")
# The path device is hidden, and named after the controller too: nvme2c2n1 of nvme2n1.
_START = """
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
disk=$(cd /sys/block && ls | grep -E "^${1%n*}(c[0-9]+)?n${1##*n}$" | sort --reverse | tail --lines=1)
hist="hist:keys=opcode if disk == \\"$disk\\""
echo "$hist" > "$2"
echo "$hist"
"""


@contextlib.contextmanager
def kernel_counts(machine: Machine, namespace: str) -> Iterator[dict[int, int]]:
    """Commands by opcode; filled when the block ends."""
    counts: dict[int, int] = {}
    trigger = machine.sh(_START, namespace, _TRIGGER).stdout.strip()
    try:
        yield counts
        shown = machine.read_file(_TRIGGER.replace("trigger", "hist")).decode()
        counts.update((int(opcode), int(n)) for opcode, n in _BUCKET.findall(shown))
    finally:
        machine.sh('echo "!$1" > "$2"', trigger, _TRIGGER)
