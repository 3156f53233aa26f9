# SPDX-License-Identifier: GPL-2.0-or-later
"""What profiling costs, as Markdown tables. Prints, asserts nothing.

    run.py [--build DIR] [--kernel 6.12 ...] [--transport tcp|rdma ...] [--machines 1|2] [--rounds N]

One machine with both sides on one vCPU, in virtual time (4 ns an instruction): a gauge that repeats, not the cost on
hardware. Programs' times are instructions times 4 ns, with about 250 ns of the kernel's own bookkeeping (bpf_stats)
in each run. Then two machines over TCP, in real time (two_machines.py).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import two_machines
from bed import Bed
from bed.machine import Machine
from support import fio, ntprofctl, rdma
from support.checks import Results, Scope
from support.ending import end_on_sigterm
from support.lab import Laboratory, prepare_host

_KERNELS = ("6.12", "6.1")
_TRANSPORTS = ("tcp", "rdma")
_DEPTHS = (1, 8)
"""Soft-RoCE drops packets and sends them again when more is under way. Two keep the one vCPU busy, more do not change that."""
_SESSIONS = {"1/64": ("1/64",), "1/64 --detail": ("1/64", "--detail"), "all": ("all",), "all --detail": ("all", "--detail")}
"""What follows --sample."""
_PROGRAM_COMMANDS = 2000

_TARGET_PROGRAMS = {"nvmet_req_init", "nvmet_bio_done", "block_rq_issue", "target_block_rq_complete", "kernel_sendpage",
                    "ib_cq_completion_workqueue", "ib_cq_poll_work"}
# tcp_add_backlog is on both sides, and counted as the host's.


def _is_target(name: str) -> bool:
    return name.startswith(("nvmet_", "target_")) or name in _TARGET_PROGRAMS


def _tell(text: str) -> None:
    print(f"# {text}", file=sys.stderr, flush=True)


def _say(text: str = "") -> None:
    print(text, flush=True)


@dataclass
class Programs:
    """run_time_ns and run_cnt of each program, by name."""

    times: dict[str, tuple[int, int]]

    @staticmethod
    def read(machine: Machine) -> Programs:
        found: dict[str, tuple[int, int]] = {}
        for program in ntprofctl.attached_programs(machine):
            spent, runs = found.get(program["name"], (0, 0))
            found[program["name"]] = (spent + program.get("run_time_ns", 0), runs + program.get("run_cnt", 0))
        return Programs(found)

    def since(self, before: Programs) -> Programs:
        return Programs({name: (spent - before.times.get(name, (0, 0))[0], runs - before.times.get(name, (0, 0))[1])
                         for name, (spent, runs) in self.times.items()})


@dataclass
class Cost:
    """Of the programs, over a load of so many commands."""

    programs: Programs
    commands: int

    def runs(self, names: list[str]) -> float:
        """For each command."""
        return sum(self.programs.times.get(name, (0, 0))[1] for name in names) / self.commands

    def ns(self, names: list[str]) -> float:
        """For each command."""
        return sum(self.programs.times.get(name, (0, 0))[0] for name in names) / self.commands


def _iops(lab: Laboratory, depth: int) -> float:
    """As a person runs fio, not in real time as the tests do: what a session takes depends on what there is to take from."""
    output = lab.host.run(["fio", "--output-format=json", "--name=load", f"--filename=/dev/{lab.namespace}", "--rw=randread",
                           "--bs=4k", f"--iodepth={depth}", "--ioengine=libaio", "--direct=1", "--time_based", "--runtime=1",
                           "--ramp_time=200ms", "--norandommap", "--randrepeat=1"], timeout=900, check=True).json()
    return float(output["jobs"][0]["read"]["iops"])


def _programs(lab: Laboratory) -> Cost:
    """Of the deepest load. While this counts, all is slower."""
    load = fio.Load(fio.READ_4K, _PROGRAM_COMMANDS, _DEPTHS[-1])
    lab.host.sh("sysctl -qw kernel.bpf_stats_enabled=1")
    try:
        before = Programs.read(lab.host)
        outcome = fio.run(lab.host, lab.namespace, [load], timeout=900)[0]
        return Cost(Programs.read(lab.host).since(before), outcome.ios)
    finally:
        lab.host.sh("sysctl -qw kernel.bpf_stats_enabled=0")


def _recorded(lab: Laboratory, options: tuple[str, ...]) -> tuple[list[float], Cost]:
    """All in one session: to begin one takes longer than to measure."""
    with ntprofctl.session(lab.host, lab.namespace, *options):
        ntprofctl.wait_recording(lab.host)
        lab.host.sh("sleep 1")
        return [_iops(lab, depth) for depth in _DEPTHS], _programs(lab)


def _mean(rounds: list[list[float]]) -> list[float]:
    return [sum(values) / len(values) for values in zip(*rounds, strict=True)]


def _say_loss(without: list[float], recorded: dict[str, list[float]]) -> None:
    _say("| 4 KiB random reads | without | " + " | ".join(f"--sample {session} | loss" for session in recorded) + " |")
    _say("| --- | ---: |" + " ---: | ---: |" * len(recorded))
    for row, depth in enumerate(_DEPTHS):
        _say(f"| QD{depth}, IOPS | {without[row]:.0f} | "
             + " | ".join(f"{iops[row]:.0f} | {1 - iops[row] / without[row]:.1%}" for iops in recorded.values()) + " |")
    _say()


def _say_programs(costs: dict[str, Cost]) -> None:
    _say(f"| QD{_DEPTHS[-1]}, runs and ns a command | side | "
         + " | ".join(f"--sample {session} | ns" for session in costs) + " |")
    _say("| --- | --- |" + " ---: | ---: |" * len(costs))
    names = sorted({name for cost in costs.values() for name, (_, runs) in cost.programs.times.items() if runs})
    sides = {side: [name for name in names if _is_target(name) == (side == "target")] for side in ("host", "target")}
    for side, members in sides.items():
        for name in members:
            _say(f"| {name} | {side} | "
                 + " | ".join(f"{cost.runs([name]):.2f} | {cost.ns([name]):.0f}" for cost in costs.values()) + " |")
    for side, members in sides.items():
        _say(f"| **{side}** | | " + " | ".join(f"**{cost.runs(members):.1f}** | **{cost.ns(members):.0f}**"
                                               for cost in costs.values()) + " |")
    _say()


def _cost(lab: Laboratory, rounds: int) -> None:
    without: list[list[float]] = []
    recorded: dict[str, list[list[float]]] = {session: [] for session in _SESSIONS}
    costs: dict[str, Cost] = {}
    for _ in range(rounds):
        without.append([_iops(lab, depth) for depth in _DEPTHS])
        _tell(f"without: {without[-1]}")
        for session, options in _SESSIONS.items():
            iops, costs[session] = _recorded(lab, options)
            recorded[session].append(iops)
            _tell(f"--sample {session}: {iops}")
    _say_loss(_mean(without), {session: _mean(found) for session, found in recorded.items()})
    _say_programs(costs)


_WATCH = """
set -e
now() { cut -d' ' -f1 /proc/uptime; }
begin=$(now)
id=$(ntprofctl session start --namespace "$1" --sample all --detach --json | jq -r .id)
path=/org/ntprof1/session/$id
until [ "$(busctl get-property org.ntprof1 "$path" org.ntprof1.Session State)" = 's "recording"' ]; do sleep 0.02; done
recording=$(now)
until [ "$(ntprofctl session show "$id" --json | jq .sampled)" -gt 0 ]; do sleep 0.02; done
first=$(now)
sleep 2
stop=$(now)
ntprofctl session stop "$id" >&2
ntprofctl report "$id" --json > /dev/null
report=$(now)
ntprofctl session remove "$id" >&2
peak=$(awk '/VmHWM/ { print $2 }' "/proc/$(pgrep -x ntprofd)/status")
jq -n "{begin: $begin, recording: $recording, first: $first, stop: $stop, report: $report, peak_kib: $peak}"
"""


def _times(lab: Laboratory) -> None:
    load = fio.start_endless(lab.host, lab.namespace, iops=500)
    try:
        facts: dict[str, Any] = lab.host.sh(_WATCH, lab.namespace, timeout=300).json()
    finally:
        load.signal(2)
        load.wait(60)
    _say("| | |")
    _say("| --- | ---: |")
    _say(f"| from StartSession to recording | {facts['recording'] - facts['begin']:.2f} s |")
    _say("| from StartSession to the first sample seen by a client (told once a second) "
         f"| {facts['first'] - facts['begin']:.2f} s |")
    _say(f"| from Stop to the report | {facts['report'] - facts['stop']:.2f} s |")
    _say(f"| peak memory of ntprofd, shared pages and ring buffers included | {facts['peak_kib'] / 1024:.1f} MiB |")
    _say()


@contextlib.contextmanager
def _laboratory(bed: Bed, transport: str) -> Iterator[Laboratory]:
    scope = Scope(Results(), "bench")
    if transport == "rdma":
        with rdma.connected(bed) as over:
            yield Laboratory(bed, scope, over.namespace)
    else:
        prepare_host(bed, bed.namespace)
        yield Laboratory(bed, scope, bed.namespace)


def _measure(bed: Bed, transports: list[str], rounds: int, times: bool) -> None:
    # All that it reads is in memory from now on: while a guest waits for this computer, the guest's time goes by.
    ntprofctl.ctl(bed.host, "check", timeout=600)
    for transport in transports:
        since = time.monotonic()
        with _laboratory(bed, transport) as lab:
            _say(f"## {transport.upper()}, kernel {bed.facts.releases['host']}")
            _say()
            _cost(lab, rounds)
            if times:
                _times(lab)
        _say(f"Measured in {time.monotonic() - since:.0f} s.")
        _say()


def _bench(kernel: str, transports: list[str], build: str, rounds: int, times: bool) -> None:
    with Bed.up(kernel, name=f"bench-{kernel}-{os.getpid()}"[:32], icount=True, build=build) as bed:
        _measure(bed, transports, rounds, times)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.environ.get("NTPROF_BUILD", "build"), help="the build to install")
    parser.add_argument("--kernel", action="append", dest="kernels", help="default: 6.12 and 6.1")
    parser.add_argument("--transport", action="append", dest="transports", choices=_TRANSPORTS, help="default: both")
    parser.add_argument("--machines", type=int, choices=(1, 2), help="one of the two parts; default: both")
    parser.add_argument("--rounds", type=int, default=2, help="of alternating sessions; default 2")
    parser.add_argument("--no-times", dest="times", action="store_false",
                        help="what a command costs only: not how long sessions take to begin and to end, nor ntprofd's memory")
    arguments = parser.parse_args()
    end_on_sigterm()
    kernels = list(dict.fromkeys(arguments.kernels or _KERNELS))
    transports = list(dict.fromkeys(arguments.transports or _TRANSPORTS))
    for kernel in kernels if arguments.machines != 2 else ():
        _bench(kernel, transports, arguments.build, arguments.rounds, arguments.times)
    if arguments.machines != 1 and "tcp" in transports:
        two_machines.bench(kernels[0], kernels[-1], arguments.build)
    return 0


if __name__ == "__main__":
    sys.exit(main())
