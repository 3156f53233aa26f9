# SPDX-License-Identifier: GPL-2.0-or-later
"""What profiling costs, as Markdown tables. Prints, asserts nothing.

    run.py [--build DIR] [--kernel 6.12 ...] [--machines 1|2] [--rounds N]

One machine with both sides on one vCPU, in virtual time (4 ns an instruction): a gauge that repeats, not the cost on
hardware. Programs' times are instructions times 4 ns, with about 250 ns of the kernel's own bookkeeping (bpf_stats)
in each run. Then two machines, in real time (two_machines.py).
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass
from typing import Any

import two_machines
from bed import Bed
from bed.machine import Machine
from support import fio, ntprofctl
from support.checks import Results, Scope
from support.ending import end_on_sigterm
from support.lab import Lab

_KERNELS = ("6.12", "6.1")
_DEPTHS = (1, 8, 32)
_NONE = "without"
_SESSIONS = {"1/64": ("1/64",), "1/64 --detail": ("1/64", "--detail"), "all": ("all",), "all --detail": ("all", "--detail")}
"""What follows --sample."""

_TARGET_PROGRAMS = {"nvmet_req_init", "nvmet_bio_done", "block_rq_issue", "target_block_rq_complete"}
# tcp_add_backlog is on both sides, and counted as the host's.


def _is_target(name: str) -> bool:
    return name.startswith(("nvmet_", "target_")) or name in _TARGET_PROGRAMS | {"kernel_sendpage"}


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


def _plain_iops(lab: Lab, depth: int) -> float:
    """As a person runs fio, not in real time as the tests do: what a session takes depends on what there is to take from."""
    output = lab.host.run(["fio", "--output-format=json", "--name=load", f"--filename=/dev/{lab.namespace}", "--rw=randread",
                           "--bs=4k", f"--iodepth={depth}", "--ioengine=libaio", "--direct=1", "--time_based", "--runtime=2",
                           "--ramp_time=200ms", "--norandommap", "--randrepeat=1"], timeout=300, check=True).json()
    return float(output["jobs"][0]["read"]["iops"])


def _iops(lab: Lab, options: tuple[str, ...] | None, depth: int) -> float:
    if options is None:
        return _plain_iops(lab, depth)
    with ntprofctl.session(lab.host, lab.namespace, *options):
        ntprofctl.wait_recording(lab.host)
        lab.host.sh("sleep 1")
        return _plain_iops(lab, depth)


def _overhead(lab: Lab, rounds: int) -> None:
    _say(f"| 4 KiB random reads | {_NONE} | " + " | ".join(f"--sample {session} | loss" for session in _SESSIONS) + " |")
    _say("| --- | ---: |" + " ---: | ---: |" * len(_SESSIONS))
    for depth in _DEPTHS:
        without, sums = 0.0, {session: 0.0 for session in _SESSIONS}
        for _ in range(rounds):
            without += _iops(lab, None, depth) / rounds
            for session, options in _SESSIONS.items():
                sums[session] += _iops(lab, options, depth) / rounds
        _say(f"| QD{depth}, IOPS | {without:.0f} | " + " | ".join(f"{iops:.0f} | {1 - iops / without:.1%}"
                                                              for iops in sums.values()) + " |")
    _say()


def _per_command(lab: Lab, sample: str) -> tuple[Programs, int]:
    """Times of the programs over a load at depth 8, and its commands."""
    with ntprofctl.session(lab.host, lab.namespace, sample):
        ntprofctl.wait_recording(lab.host)
        before = Programs.read(lab.host)
        outcome = fio.run(lab.host, lab.namespace, [fio.Load(fio.READ_4K, 6000, 8)])[0]
        spent = Programs.read(lab.host).since(before)
    return spent, outcome.ios


def _programs(lab: Lab) -> None:
    lab.host.sh("sysctl -qw kernel.bpf_stats_enabled=1")
    # 1/N with the largest N: of these few thousand commands none, or one, is sampled.
    unsampled, commands = _per_command(lab, "1/4294967295")
    sampled, sampled_commands = _per_command(lab, "all")
    lab.host.sh("sysctl -qw kernel.bpf_stats_enabled=0")

    _say("| program | side | runs a command | ns a run, not sampled | ns a run, sampled |")
    _say("| --- | --- | ---: | ---: | ---: |")
    totals: dict[str, list[float]] = {"host": [0, 0, 0], "target": [0, 0, 0]}
    for name, (spent, runs) in sorted(unsampled.times.items(), key=lambda item: (_is_target(item[0]), item[0])):
        if not runs:
            continue
        side = "target" if _is_target(name) else "host"
        spent_all, runs_all = sampled.times.get(name, (0, 0))
        per_command = runs / commands
        mean, mean_all = spent / runs, spent_all / runs_all if runs_all else 0
        totals[side][0] += per_command
        totals[side][1] += spent / commands
        totals[side][2] += spent_all / sampled_commands
        _say(f"| {name} | {side} | {per_command:.2f} | {mean:.0f} | {mean_all:.0f} |")
    for side, (runs_, mean, mean_all) in totals.items():
        _say(f"| **{side}, a command** | | **{runs_:.1f}** | **{mean:.0f}** | **{mean_all:.0f}** |")
    _say()



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


def _times(lab: Lab) -> None:
    load = fio.start_endless(lab.host, lab.namespace, iops=500)
    try:
        facts: dict[str, Any] = lab.host.sh(_WATCH, lab.namespace, timeout=300).json()
    finally:
        load.signal(2)
        load.wait(60)
    _say("| | |")
    _say("| --- | ---: |")
    _say(f"| from StartSession to recording | {facts['recording'] - facts['begin']:.2f} s |")
    _say(f"| from StartSession to the first sample seen by a client (told once a second) | {facts['first'] - facts['begin']:.2f} s |")
    _say(f"| from Stop to the report | {facts['report'] - facts['stop']:.2f} s |")
    _say(f"| peak memory of ntprofd, shared pages and ring buffers included | {facts['peak_kib'] / 1024:.1f} MiB |")
    _say()


def _bench(kernel: str, build: str, rounds: int) -> None:
    since = time.monotonic()
    with Bed.up(kernel, name=f"bench-{kernel}-{os.getpid()}"[:32], icount=True, build=build) as bed:
        lab = Lab.prepare(bed, Scope(Results(), kernel))
        _say(f"## Kernel {bed.facts.releases['host']}")
        _say()
        _overhead(lab, rounds)
        _programs(lab)
        _times(lab)
        _say(f"Measured in {time.monotonic() - since:.0f} s.")
        _say()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.environ.get("NTPROF_BUILD", "build"), help="the build to install")
    parser.add_argument("--kernel", action="append", dest="kernels", help="default: 6.12 and 6.1")
    parser.add_argument("--machines", type=int, choices=(1, 2), help="one of the two parts; default: both")
    parser.add_argument("--rounds", type=int, default=2, help="of alternating sessions; default 2")
    arguments = parser.parse_args()
    end_on_sigterm()
    kernels = list(dict.fromkeys(arguments.kernels or _KERNELS))
    for kernel in kernels if arguments.machines != 2 else ():
        _bench(kernel, arguments.build, arguments.rounds)
    if arguments.machines != 1:
        two_machines.bench(kernels[0], kernels[-1], arguments.build)
    return 0


if __name__ == "__main__":
    sys.exit(main())
