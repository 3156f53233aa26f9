# SPDX-License-Identifier: GPL-2.0-or-later
"""Load by fio, with an exact number of I/Os so that every one can be accounted for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bed import Running
from bed.machine import Machine

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True)
class Kind:
    """A kind of command: what it does, how long it is, and what it takes on the wire."""

    name: str
    op: str
    """As in the report: read, write."""
    size: int
    way: str
    r2t: bool = False


READ_4K = Kind("4 KiB reads", "read", 4 * KIB, "randread")
READ_128K = Kind("128 KiB reads", "read", 128 * KIB, "randread")
WRITE_4K = Kind("4 KiB writes", "write", 4 * KIB, "randwrite")
"""In the command's capsule: nvmet-tcp takes up to 16 KiB so."""
WRITE_64K = Kind("64 KiB writes", "write", 64 * KIB, "randwrite", r2t=True)
WRITE_1M = Kind("1 MiB writes", "write", MIB, "randwrite", r2t=True)
READ_1M = Kind("1 MiB reads", "read", MIB, "randread")
KINDS = (READ_4K, WRITE_4K, WRITE_64K, WRITE_1M, READ_128K)

REGION = 64 * MIB
"""What the loads use of the drives, which hold in memory what was written once."""


@dataclass(frozen=True)
class Load:
    """A kind of command, how many of them, and how many at a time."""

    kind: Kind
    count: int
    depth: int = 1


@dataclass(frozen=True)
class Outcome:
    """What fio says of a load."""

    ios: int
    lat_ns: float
    """Mean from before the submission call to the completion being taken. Not fio's clat, which begins when that call
    returns: nvme-tcp sends from inside it, and over loopback even the receiver runs there."""
    iops: float
    seconds: float


# In real time, a load takes a completion before the other side's work, on the same CPU, goes on; else it calls that latency.
_REAL_TIME = ["chrt", "--fifo", "10"]


def _common(namespace: str) -> list[str]:
    # Buffers in huge pages: how many pieces a command's data is in would else depend on how fragmented the memory is,
    # and the time to send them with it.
    return ["fio", "--output-format=json", f"--filename=/dev/{namespace}", "--ioengine=libaio", "--direct=1",
            "--iomem=shmhuge", f"--size={REGION}", "--norandommap", "--randseed=20261130", "--thread"]


def command(namespace: str, loads: Sequence[Load], real_time: bool = True) -> list[str]:
    """The command line of loads one after the other."""
    argv = (_REAL_TIME if real_time else []) + _common(namespace)
    for number, load in enumerate(loads):
        argv += [f"--name=load{number}", "--stonewall", f"--rw={load.kind.way}", f"--bs={load.kind.size}",
                 f"--iodepth={load.depth}", f"--io_size={load.count * load.kind.size}"]
    return argv


def _outcome(job: dict[str, Any], op: str) -> Outcome:
    half = job[op]
    return Outcome(half["total_ios"], half["lat_ns"]["mean"], half["iops"], half["runtime"] / 1e3)


def parse(output: dict[str, Any], loads: Sequence[Load]) -> list[Outcome]:
    """Outcomes from what that command line printed."""
    return [_outcome(job, load.kind.op) for job, load in zip(output["jobs"], loads, strict=True)]


def start(machine: Machine, namespace: str, loads: Sequence[Load], real_time: bool = True) -> Running:
    """Loads one after the other, in the background."""
    return machine.start(command(namespace, loads, real_time))


def outcomes(running: Running, loads: Sequence[Load], timeout: float = 300) -> list[Outcome]:
    return parse(running.wait(timeout).check().json(), loads)


def run(machine: Machine, namespace: str, loads: Sequence[Load], timeout: float = 300,
        real_time: bool = True) -> list[Outcome]:
    """Loads one after the other; their outcomes in the same order."""
    return outcomes(start(machine, namespace, loads, real_time), loads, timeout)


ENDLESS_DEPTH = 4


def start_endless(machine: Machine, namespace: str, kind: Kind = READ_4K, iops: int = 200) -> Running:
    """A load that goes on until it is killed, of so many commands a second: a CPU without a break has none for others."""
    return machine.start(_common(namespace) + ["--name=load", f"--rw={kind.way}", f"--bs={kind.size}",
                                               f"--iodepth={ENDLESS_DEPTH}", f"--rate_iops={iops}", "--time_based",
                                               "--runtime=1h"])


def start_mixed(machine: Machine, namespace: str, depth: int, seconds: int) -> Running:
    """4 KiB reads and writes for so long, as fast as they go."""
    return machine.start(_common(namespace) + ["--name=mixed", "--rw=randrw", "--bs=4k", f"--iodepth={depth}", "--time_based",
                                               f"--runtime={seconds}"])


def mixed_outcome(running: Running, timeout: float) -> Outcome:
    """Of both directions together; the mean latency is the reads'."""
    job = running.wait(timeout).check().json()["jobs"][0]
    read, write = _outcome(job, "read"), _outcome(job, "write")
    return Outcome(read.ios + write.ios, read.lat_ns, read.iops + write.iops, max(read.seconds, write.seconds))


def fill(machine: Machine, namespace: str) -> None:
    """Write the region once, so that no later command makes the drive allocate memory."""
    everything = Kind("fill", "write", MIB, "write")
    run(machine, namespace, [Load(everything, REGION // MIB)])
