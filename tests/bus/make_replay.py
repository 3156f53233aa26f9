#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Make a recording for ntprofd --replay whose every number is known.

Layouts are those of bpf/record.h and daemon/capture/replay-format.h; tests/unit/test-recording.c checks that they agree.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import struct
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MASK = (1 << 64) - 1
ALL = 0xFFFFFFFF
VERSION = 2                                             # NP_RECORD_VERSION

FRAME_HOST, FRAME_TARGET, FRAME_COUNTERS, FRAME_IOSTAT, FRAME_END = 1, 2, 3, 4, 5
OP_WRITE, OP_READ = 1, 2
FLAG_CANCELLED, FLAG_RETRIED, FLAG_IN_CAPSULE, FLAG_R2T, FLAG_FUA, FLAG_RDMA_READ, FLAG_DATA_ARRIVAL = 1, 2, 16, 32, 128, 256, 512
KIND_FUA = 1 << 24                                      # NP_KIND_FUA
# enum np_counter
COMMANDS, SAMPLED, EMITTED, RING_FULL = 0, 1, 2, 3
N_COUNTERS = 12

HOSTNQN = "nqn.2014-08.org.nvmexpress:uuid:0b6bd2a5-2d2c-4c0c-9f4f-4a8d6f2f7a01"
SUBSYSNQN = "nqn.2026-11.org.ntprof:test"
NSID = 1
BLOCK = 512

HEADER = struct.Struct("<HHIIIIHH QIHHHHB3x".replace(" ", ""))
HOST = struct.Struct("<9Q6Q4I16s")
TARGET = struct.Struct("<10Q7Q2I")


def mix64(x: int) -> int:
    """np_mix64() of bpf/sample-hash.h"""
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & MASK
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def seed_of(hostnqn: str) -> int:
    """namespace_seed() of daemon/session/namespace.c"""
    h = 0
    for byte in hostnqn.encode():
        h = mix64(h ^ byte)
    return h >> 32


SEED = seed_of(HOSTNQN)


@dataclass
class Command:
    """One command; times are ns since it was submitted (H0 = 0) unless they are durations."""

    submitted: int
    opcode: int = OP_READ
    nlb: int = 7
    slba: int = 0
    qid: int = 1
    cid: int = 0
    cntlid: int = 1
    host_flags: int = 0
    target_flags: int = 0
    status: int = 0
    host: tuple[int, ...] = (0, 500, 2000, 5000, 0, 0, 65000, 67000, 69000)
    target: tuple[int, ...] = (0, 15000, 0, 0, 17000, 18000, 50000, 51000, 52000, 55000)
    r2t_ns: int = 0
    r2t_queued: int = 0
    fetch_ns: int = 0
    r2t_rounds: int = 0
    released: int = 0               # RDMA
    cpus: tuple[int, int, int, int] = (0, 0, 0, 0)      # that ran H2, H6, T1, T9
    tgid: int = 0
    comm: str = ""
    # in detail only, as T5 and T6
    detail: bool = False
    ha: int = 0
    receive_r2t_ns: int = 0
    ta: int = 0
    receive_data_ns: int = 0
    ts: int = 0
    target_recorded: bool = True
    host_recorded: bool = True

    def hash(self) -> int:
        """np_sample_hash() of bpf/sample-hash.h"""
        a = self.qid << 48 | self.cid << 32 | self.nlb << 16 | self.opcode
        b = NSID << 32 | SEED
        return mix64(mix64(a ^ (self.slba * 0x9E3779B97F4A7C15 & MASK)) ^ b) >> 32

    def latency(self) -> int:
        return self.host[8] - self.host[0]

    def _header(self, kind: int, size: int, flags: int) -> bytes:
        return HEADER.pack(kind, VERSION, size, self.hash(), ALL, flags, self.status, 0, self.slba, NSID, self.qid, self.cid,
                           self.nlb, self.cntlid, self.opcode)

    def _clock(self, since: int) -> int:
        return self.submitted + since if since else 0

    def host_record(self) -> bytes:
        flags = self.host_flags | (FLAG_DATA_ARRIVAL if self.detail and self.r2t_rounds else 0)
        times = [self.submitted, *(self._clock(t) for t in self.host[1:])]
        arrivals = (self._clock(self.ha), self._clock(self.released), self.receive_r2t_ns)
        if not self.detail:
            arrivals = (0, self._clock(self.released), 0)
        return self._header(1, HEADER.size + HOST.size, flags) + HOST.pack(
            *times, self.r2t_ns, 0, 0, *arrivals, self.r2t_rounds, self.cpus[0], self.cpus[1], self.tgid, self.comm.encode())

    def target_record(self) -> bytes:
        flags = self.target_flags | (FLAG_DATA_ARRIVAL if self.detail and self.fetch_ns else 0)
        times = [self._clock(t) for t in self.target]
        arrivals = (self._clock(self.ta), self.receive_data_ns, self._clock(self.ts))
        if not self.detail:
            times[5] = times[6] = 0
            arrivals = (0, 0, 0)
        return self._header(2, HEADER.size + TARGET.size, flags) + TARGET.pack(
            *times, self._clock(self.r2t_queued), self.fetch_ns, 0, 0, *arrivals, *self.cpus[2:])


def read_4k(submitted: int, **kw) -> Command:
    return Command(submitted, ha=63500, ta=14200, **kw)


def write_64k_r2t(submitted: int, **kw) -> Command:
    return Command(submitted, opcode=OP_WRITE, nlb=127, host_flags=FLAG_R2T, target_flags=FLAG_R2T,
                   host=(0, 500, 2000, 5000, 25000, 45000, 165000, 167000, 169000),
                   target=(0, 15000, 20000, 0, 70000, 71000, 140000, 141000, 142000, 145000),
                   r2t_ns=20000, r2t_queued=17000, fetch_ns=50000, r2t_rounds=1,
                   ha=163000, receive_r2t_ns=700, ta=14100, receive_data_ns=900, **kw)


def write_4k(submitted: int, flags: int = 0, **kw) -> Command:
    """The data in the capsule."""
    return Command(submitted, opcode=OP_WRITE, host_flags=flags, target_flags=FLAG_IN_CAPSULE | flags,
                   target=(0, 15000, 15500, 0, 17000, 18000, 50000, 51000, 52000, 55000), fetch_ns=1500,
                   ha=63000, ta=14300, receive_data_ns=400, **kw)


def write_4k_fua(submitted: int, **kw) -> Command:
    return write_4k(submitted, FLAG_FUA, **kw)


def read_4k_rdma(submitted: int, **kw) -> Command:
    return Command(submitted, released=66200, ha=63800, ta=14300, ts=58000, **kw)


def write_64k_rdma(submitted: int, **kw) -> Command:
    """The data fetched by RDMA READ, from T2 to T3."""
    return Command(submitted, opcode=OP_WRITE, nlb=127, target_flags=FLAG_RDMA_READ,
                   host=(0, 500, 2000, 5000, 0, 0, 165000, 167000, 169000),
                   target=(0, 15000, 18000, 68000, 70000, 71000, 140000, 141000, 142000, 145000),
                   fetch_ns=50000, released=166000, ha=162500, ta=14500, receive_data_ns=600, ts=149000, **kw)


Make = Callable[..., Command]
MIXES: dict[str, Sequence[Make]] = {"tcp": (read_4k, read_4k, read_4k, write_64k_r2t),
                                    "rdma": (read_4k_rdma, read_4k_rdma, read_4k_rdma, write_64k_rdma)}
PROCESSES = ((1001, "fio"), (1001, "fio"), (2002, "postgres: walwr"))


def mixed(count: int, interval: int, start: int, makes: Sequence[Make] = MIXES["tcp"], detail: bool = False) -> Iterator[Command]:
    """Three reads, then a write, and so on; the drive's time grows by 10 ns over each hundred. Two queues, each with a
    processor of its own on both sides, and two processes."""
    for i in range(count):
        tgid, comm = PROCESSES[i % len(PROCESSES)]
        queue = i % 2
        command = makes[i % len(makes)](start + 1000 + i * interval, slba=i * 128, cid=(i % 64) | (i // 64 % 16) << 12,
                                        qid=1 + queue, cpus=(queue, 2 + queue, 4 + queue, 6 + queue), tgid=tgid, comm=comm,
                                        detail=detail)
        extra = i % 100 * 10
        host, target = list(command.host), list(command.target)
        for h in (6, 7, 8):
            host[h] += extra
        for t in (6, 7, 8, 9):
            target[t] += extra
        yield dataclasses.replace(command, host=tuple(host), target=tuple(target),
                                  **{name: getattr(command, name) + extra for name in ("ha", "ts", "released")
                                     if getattr(command, name)})


def kind_key(command: Command) -> int:
    """NP_KIND_KEY() of bpf/record.h, of the first path."""
    return 1 << 32 | (KIND_FUA if command.host_flags & FLAG_FUA else 0) | command.opcode << 16 | command.nlb


@dataclass
class Count:
    """Commands so far."""

    begun: int = 0
    done: int = 0
    host: int = 0
    target: int = 0
    kinds: dict[int, int] = field(default_factory=dict)

    def begin(self, waiting: deque[Command], time: int) -> None:
        while waiting and waiting[0].submitted <= time:
            key = kind_key(waiting.popleft())
            self.kinds[key] = self.kinds.get(key, 0) + 1
            self.begun += 1

    def finish(self, command: Command) -> None:
        self.done += 1
        self.host += command.host_recorded
        self.target += command.target_recorded


@dataclass
class Recording:
    """What a recording holds; change what a test is about."""

    commands: list[Command]
    start: int
    end: int
    has_target: bool = True
    unsampled: int = 0          # commands beyond those recorded, of the first one's kind
    host_counters: dict[int, int] = field(default_factory=dict)
    counters_interval: int = 50_000_000
    iostat: bool = True
    facts: dict = field(default_factory=dict)
    machine: str = "host-a"
    drive_hidden: str | None = None
    detail: bool = False
    transport: str = "tcp"

    def all_facts(self) -> dict:
        hooks = [("H0", "tp_btf", "block_bio_queue"), ("H2", "tp_btf", "nvme_setup_cmd"), ("H3", "fexit", "nvme_tcp_try_send")]
        target_hooks = [("T1", "tp_btf", "nvmet_req_init"), ("T9", "fexit", "kernel_sendpage")]
        if self.detail:
            hooks.append(("HA", "fentry", f"nvme_{self.transport}_data_ready"))
            target_hooks += [("T5", "tp_btf", "block_rq_issue"), ("T6", "tp_btf", "block_rq_complete"),
                             ("TA", "fentry", f"nvmet_{self.transport}_data_ready")]
        return {
            "schema": "org.ntprof.recording/1",
            "record_version": VERSION,
            "machine": self.machine,
            "kernel": "6.1.0-test-amd64",
            "start_ns": self.start,
            "namespace": {
                "name": "nvme6n1", "major": 259, "minor": 3, "nsid": NSID, "block_size": BLOCK,
                "subsystem_nqn": SUBSYSNQN, "drive_hidden": self.drive_hidden,
                "paths": [{"disk": "nvme6c6n1", "controller": "nvme6", "transport": self.transport, "traddr": "10.0.0.2",
                           "trsvcid": "4420", "hostnqn": HOSTNQN, "cntlid": 1, "state": "live", "local": self.has_target}],
            },
            "detail": self.detail,
            "has_target": self.has_target,
            "no_target_reason": None if self.has_target else "the target is another machine (10.0.0.2)",
            "hooks": [{"boundary": b, "mechanism": m, "symbol": s, "target": t}
                      for rows, t in ((hooks, False), (target_hooks if self.has_target else [], True)) for b, m, s in rows],
            "inspection": {"schema": "org.ntprof.inspection/1", "kernel": "6.1.0-test-amd64",
                           "usable": {"host": True, "target": True}, "plan": [], "inventory": {}},
            **self.facts,
        }

    def _counters(self, time: int, count: Count) -> bytes:
        """As the kernel's programs would have counted by then."""
        extra = self.unsampled * count.begun // max(1, len(self.commands))
        kinds = dict(count.kinds)
        if extra:
            first = kind_key(self.commands[0])
            kinds[first] = kinds.get(first, 0) + extra
        host = [0] * N_COUNTERS
        host[COMMANDS] = count.begun + extra
        host[SAMPLED] = count.begun
        host[EMITTED] = count.host
        for counter, value in self.host_counters.items():
            host[counter] += value
        target = [0] * N_COUNTERS
        if self.has_target:
            target[COMMANDS] = count.begun + extra
            target[SAMPLED] = target[EMITTED] = count.target
        return (struct.pack("<5Q2I", time, 0, 0, count.begun - count.done, 0, N_COUNTERS, len(kinds)) +
                struct.pack(f"<{2 * N_COUNTERS}Q", *host, *target) +
                b"".join(struct.pack("<2Q", k, n) for k, n in sorted(kinds.items())))

    def weighted_ms(self) -> int:
        return sum(c.latency() - c.host[1] for c in self.commands) // 1_000_000

    def frames(self) -> Iterator[tuple[int, bytes]]:
        if self.iostat:
            yield FRAME_IOSTAT, struct.pack("<3Q2I", self.start, 1000, 5000, 1, 0)
        counted = self.start
        count = Count()
        to_begin = deque(sorted(self.commands, key=lambda c: c.submitted))
        for c in sorted(self.commands, key=lambda c: c.submitted + c.latency()):
            done = c.submitted + c.latency()
            while done - counted >= self.counters_interval:
                counted += self.counters_interval
                count.begin(to_begin, counted)
                yield FRAME_COUNTERS, self._counters(counted, count)
            count.finish(c)
            if self.has_target and c.target_recorded:
                yield FRAME_TARGET, c.target_record()
            if c.host_recorded:
                yield FRAME_HOST, c.host_record()
        if self.iostat:
            yield FRAME_IOSTAT, struct.pack("<3Q2I", self.end, 1000 + len(self.commands), 5000 + self.weighted_ms(), 1, 0)
        count.begin(to_begin, self.end)
        yield FRAME_COUNTERS, self._counters(self.end, count)
        yield FRAME_END, struct.pack("<Q", self.end)

    def bytes(self) -> bytes:
        facts = json.dumps(self.all_facts()).encode()
        out = [b"NTPROFRP", struct.pack("<2I", 1, len(facts)), facts, b"\0" * (-len(facts) % 8)]
        for kind, data in self.frames():
            out += [struct.pack("<2I", kind, len(data)), data, b"\0" * (-len(data) % 8)]
        return b"".join(out)

    def write(self, path: Path) -> None:
        path.write_bytes(self.bytes())


def recording(seconds: float = 2.0, rate: int = 1000, makes: Sequence[Make] | None = None, transport: str = "tcp",
              detail: bool = False, **kw) -> Recording:
    start = 1_000_000_000_000
    end = start + int(seconds * 1e9)
    count = int(seconds * rate)
    commands = list(mixed(count, 1_000_000_000 // rate, start, makes or MIXES[transport], detail))
    if kw.get("drive_hidden"):
        commands = [dataclasses.replace(c, target=(*c.target[:5], 0, 0, *c.target[7:])) for c in commands]
    return Recording(commands, start, end, transport=transport, detail=detail, **kw)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rate", type=int, default=1000, help="commands/s (default: 1000)")
    parser.add_argument("--transport", choices=MIXES, default="tcp")
    parser.add_argument("--detail", action="store_true", help="as of a session in detail")
    parser.add_argument("--host-only", action="store_true", help="without the target's side")
    arguments = parser.parse_args()
    recording(arguments.seconds, arguments.rate, transport=arguments.transport, detail=arguments.detail,
              has_target=not arguments.host_only).write(arguments.file)


if __name__ == "__main__":
    main()
