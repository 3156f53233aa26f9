# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's clock.

QEMU's TCG hands the host's time-stamp counter through, and a Linux guest that calibrates it while its vCPU is
preempted gets a clock that can run many times too fast. So the guest is told the rate, and is checked after boot.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import time
from dataclasses import dataclass

_RDTSC = bytes.fromhex("0f31" "48c1e220" "4809d0" "c3")
"""rdtsc; shl $32,%rdx; or %rdx,%rax; ret"""

_TOLERANCE = 0.1


@functools.cache
def tsc_khz() -> int:
    """The rate of this machine's time-stamp counter in kHz, measured over a quarter of a second."""
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(_RDTSC)
    read = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(page)))

    def sample() -> tuple[float, int]:
        """(monotonic ns, ticks) from the tightest of 20 readings."""
        readings = []
        for _ in range(20):
            before = time.monotonic_ns()
            ticks = read()
            after = time.monotonic_ns()
            readings.append((after - before, (before + after) / 2, ticks))
        _, at, ticks = min(readings)
        return at, ticks

    first = sample()
    time.sleep(0.25)
    second = sample()
    return round((second[1] - first[1]) / (second[0] - first[0]) * 1e6)


@dataclass(frozen=True)
class Reading:
    """A guest's uptime, read somewhere between two moments of the host's clock (seconds)."""

    before: float
    after: float
    uptime: float


def is_sane(first: Reading, second: Reading) -> bool:
    """Whether the guest's seconds between two readings are as long as the host's, within 10 %."""
    guest = second.uptime - first.uptime
    least = second.before - first.after
    most = second.after - first.before
    return least * (1 - _TOLERANCE) <= guest <= most * (1 + _TOLERANCE)
