# SPDX-License-Identifier: GPL-2.0-or-later
"""What a target on another machine costs: time to pair and to begin, bytes on the wire, and the two ntprof-peerd's CPU time.

In real time, on as many cores as there are: numbers of CPU time and bytes hold, those of a second depend on this computer.
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass

from bed import Bed
from bed.machine import Machine
from support import fio, ntprofctl, pairing
from support.checks import Results, Scope
from support.lab_two import Lab

_DEPTH = 16
_COUNT = 15000

_PEERD = """
pid=$(pgrep -x ntprof-peerd)
awk '{ print $14 + $15 }' "/proc/$pid/stat"
awk '/VmHWM/ { print $2 }' "/proc/$pid/status"
getconf CLK_TCK
"""


@dataclass(frozen=True)
class Spent:
    """By a machine's ntprof-peerd so far."""

    cpu_s: float
    peak_kib: int
    sent_bytes: int

    @staticmethod
    def read(machine: Machine) -> Spent:
        ticks, peak, hertz = (int(word) for word in machine.sh(_PEERD).stdout.split())
        # Without headers of TCP and below, TLS's included.
        sockets = machine.run(["ss", "--tcp", "--info", "--numeric", "--no-header", "sport = :4425 or dport = :4425"],
                              check=True).stdout
        return Spent(ticks / hertz, peak, sum(map(int, re.findall(r"bytes_acked:(\d+)", sockets))))


def _pair(lab: Lab) -> tuple[float, float]:
    """Seconds to pair, both daemons started by it and their keys made; and to ask the peer once more."""
    since = time.monotonic()
    pairing.pair(lab.host, lab.target)
    paired = time.monotonic() - since
    since = time.monotonic()
    lab.host.run(["ntprofctl", "peer", "test", "target"], check=True)
    return paired, time.monotonic() - since


def _begin(lab: Lab) -> float:
    """Seconds from StartSession to both sides recording."""
    since = time.monotonic()
    session = ntprofctl.start_detached(lab.host, lab.namespace)
    while session.show()["state"] != "recording":
        time.sleep(0.02)
    began = time.monotonic() - since
    session.stop()
    return began


def _record(lab: Lab, sample: str) -> list[tuple[str, str]]:
    with ntprofctl.session(lab.host, lab.namespace, sample) as recording:
        before = Spent.read(lab.target), Spent.read(lab.host)
        outcome = fio.run(lab.host, lab.namespace, [fio.Load(fio.READ_4K, _COUNT, _DEPTH)], real_time=False)[0]
        time.sleep(2)    # what is still on its way
        after = Spent.read(lab.target), Spent.read(lab.host)
    report = ntprofctl.recorded(recording)
    seconds = outcome.seconds
    cpu = [later.cpu_s - earlier.cpu_s for earlier, later in zip(before, after, strict=True)]
    sent = after[0].sent_bytes - before[0].sent_bytes
    back = after[1].sent_bytes - before[1].sent_bytes
    records = max(report.sampled, 1)
    return [
        (f"--sample {sample}: commands, sampled, joined", f"{report.commands}, {report.sampled}, {report.joined}"),
        ("records/s through the link", f"{report.sampled / outcome.seconds:.0f} (of {outcome.iops:.0f} commands/s)"),
        ("bytes to the host, a sampled command", f"{sent / records:.0f}"),
        ("bytes to the target, a sampled command", f"{back / records:.1f}"),
        ("CPU of the target's ntprof-peerd at that rate", f"{cpu[0] / seconds:.1%}, {cpu[0] / records * 1e6:.0f} us a record"),
        ("CPU of the host's ntprof-peerd at that rate", f"{cpu[1] / seconds:.1%}, {cpu[1] / records * 1e6:.0f} us a record"),
        ("peak memory of ntprof-peerd, target and host",
         " and ".join(f"{spent.peak_kib / 1024:.1f}" for spent in after) + " MiB"),
    ]


def bench(kernel: str, target_kernel: str, build: str) -> None:
    since = time.monotonic()
    with Bed.up(kernel, name=f"bench-2-{kernel}-{os.getpid()}"[:32], machines=2, target_kernel=target_kernel,
                build=build) as bed:
        lab = Lab.prepare(bed, Scope(Results(), kernel))
        print(f"## Two machines: host {bed.facts.releases['host']}, target {bed.facts.releases['target']}\n")
        paired, asked = _pair(lab)
        rows = [("invite and join, both daemons started and their keys made", f"{paired:.1f} s"),
                ("ntprofctl peer test, over the link that is there", f"{asked:.2f} s"),
                ("from StartSession to both sides recording", f"{_begin(lab):.1f} s")]
        rows += _record(lab, "all") + _record(lab, "1/16")
        print("| 4 KiB random reads, QD16 | |\n| --- | ---: |")
        for what, value in rows:
            print(f"| {what} | {value} |")
        print(f"\nMeasured in {time.monotonic() - since:.0f} s.\n", flush=True)
