# SPDX-License-Identifier: GPL-2.0-or-later
"""How many commands of each opcode the kernel itself counts for a namespace: those that its tracepoint nvme_setup_cmd lists.

In a buffer of its own. A histogram would do, but not every kernel has them (CONFIG_HIST_TRIGGERS).
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterator

from bed.machine import Machine

_TRACING = "/sys/kernel/tracing"
_BUFFER = f"{_TRACING}/instances/setup_count"
# include/linux/nvme.h, show_nvm_opcode_name(); a number of what that has no name for
_OPCODES = {"flush": 0x00, "write": 0x01, "read": 0x02, "write_uncor": 0x04, "compare": 0x05, "write_zeroes": 0x08, "dsm": 0x09,
            "verify": 0x0c}
_COMMAND = re.compile(r" nvme_setup_cmd: .* cmd=\((?:nvme_cmd_)?(\w+)")
_COUNTS = re.compile(r"^# entries-in-buffer/entries-written: (\d+)/(\d+) ", re.MULTILINE)
# The path device is hidden, and named after the controller too: nvme2c2n1 of nvme2n1.
_START = f"""
mountpoint -q {_TRACING} || mount -t tracefs tracefs {_TRACING}
disk=$(cd /sys/block && ls | grep -E "^${{1%n*}}(c[0-9]+)?n${{1##*n}}$" | sort --reverse | tail --lines=1)
mkdir {_BUFFER}
echo 16384 > {_BUFFER}/buffer_size_kb
echo "disk == \\"$disk\\"" > {_BUFFER}/events/nvme/nvme_setup_cmd/filter
echo 1 > {_BUFFER}/events/nvme/nvme_setup_cmd/enable
"""
_END = f"echo 0 > {_BUFFER}/events/nvme/nvme_setup_cmd/enable; rmdir {_BUFFER}"


@contextlib.contextmanager
def kernel_counts(machine: Machine, namespace: str) -> Iterator[dict[int, int]]:
    """Commands by opcode; filled when the block ends."""
    counts: dict[int, int] = {}
    machine.sh(_START, namespace)
    try:
        yield counts
        shown = machine.sh(f"cat {_BUFFER}/trace").stdout
        sizes = _COUNTS.search(shown)
        assert sizes and sizes[1] == sizes[2], f"the buffer has not all that was traced: {sizes[0] if sizes else shown[:200]}"
        found = Counter(_COMMAND.findall(shown))
        counts.update((_OPCODES[name] if name in _OPCODES else int(name, 0), n) for name, n in found.items())
    finally:
        machine.sh(_END)
