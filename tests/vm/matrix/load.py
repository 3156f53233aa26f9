# SPDX-License-Identifier: GPL-2.0-or-later
"""The loads of the matrix, and how long their commands took: by who issued them, which is fio or for flushes flush.py, or by
the kernel's diskstats."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from bed.machine import Machine
from support.fio import KIB, Kind

from .plan import FLUSH, SECTION, Load

GO = "/run/matrix-go"
"""There while commands are issued: programs that start or end are not to be held up by what holds up commands."""
FOLDER = "/run/matrix"
_REAL_TIME = ["chrt", "--fifo", "10"]

WARM_UP = Kind("warm-up", "read", 8 * KIB, "randread")
"""Of a size of their own, so that they are in a table of their own."""
_CROWD = Kind("crowd", "read", 16 * KIB, "randread")


@dataclass(frozen=True)
class Outcome:
    ios: int
    lat_ns: float
    """Mean."""


# libaio: what a thread submits by a system call of its own is dispatched by it. A synchronous direct write waits in the
# thread's plug until that sleeps, and is then dispatched by a kernel thread (blkdev_write_iter(), Linux 6.1).
def _fio(device: str, kind: Kind, think_us: int) -> list[str]:
    return ["fio", "--output-format=json", "--name=load", f"--filename=/dev/{device}", "--ioengine=libaio", "--direct=1",
            "--thread", f"--rw={kind.way}", f"--bs={kind.size}", f"--size={SECTION}", "--norandommap", "--randseed=20261130",
            "--thinktime_blocks=1", f"--thinktime={think_us}"]


def run(machine: Machine, device: str, kind: Kind, load: Load) -> Outcome:
    """Issue the commands."""
    if load.real_time:
        return _issue(machine, device, kind, load)
    before = _diskstats(machine, device, kind)
    issued = _issue(machine, device, kind, load)
    after = _diskstats(machine, device, kind)
    ios = after[0] - before[0]
    assert ios == issued.ios, f"{kind.name}: {ios} in the device's stat, {issued.ios} were issued"
    return Outcome(ios, (after[1] - before[1]) * 1e6 / ios)


# Where a kind is in a device's stat (Documentation/block/stat.rst): how many, and their time in ms.
_STAT = {"read": (0, 3), "write": (4, 7), "flush": (15, 16)}


def _diskstats(machine: Machine, device: str, kind: Kind) -> tuple[int, int]:
    number = device.removesuffix("n1").removeprefix("nvme")
    fields = machine.read_file(f"/sys/block/nvme{number}c{number}n1/stat").split()
    count, ticks = _STAT[kind.op]
    return int(fields[count]), int(fields[ticks])


def _issue(machine: Machine, device: str, kind: Kind, load: Load) -> Outcome:
    machine.sh(f"rm -f {GO}")
    priority = _REAL_TIME if load.real_time else []
    if kind is FLUSH:
        found = machine.run([*priority, "python3", f"{FOLDER}/flush.py", f"/dev/{device}", str(load.count), str(load.think_us),
                             GO], check=True, timeout=300).json()
        return Outcome(found["ios"], found["lat_ns"])
    printed = machine.run([*priority, *_fio(device, kind, load.think_us), f"--io_size={load.count * kind.size}",
                           f"--exec_prerun=touch {GO}", f"--exec_postrun=rm -f {GO}"], check=True, timeout=300).stdout
    # Lines about the two commands can come before.
    job = json.JSONDecoder().raw_decode(printed, printed.index("{"))[0]["jobs"][0][kind.op]
    return Outcome(job["total_ios"], job["lat_ns"]["mean"])


_WAIT_CROWD = """
for _ in $(seq 600); do
  read -r _ _ _ _ _ _ _ _ in_flight _ < "/sys/block/nvme$1c$1n1/stat"
  [ "$in_flight" -lt 15 ] || exit 0
  sleep 0.1
done
echo "the readers do not read" >&2
exit 1
"""


@contextlib.contextmanager
def readers(machine: Machine, device: str, load: Load) -> Iterator[None]:
    """The load's readers beside, while the block runs."""
    if not load.readers:
        yield
        return
    running = machine.start([*_fio(device, _CROWD, load.think_us), f"--numjobs={load.readers}", "--group_reporting",
                             "--time_based", "--runtime=1h"])
    try:
        machine.sh(_WAIT_CROWD, device.removesuffix("n1").removeprefix("nvme"))
        yield
    finally:
        running.kill()
