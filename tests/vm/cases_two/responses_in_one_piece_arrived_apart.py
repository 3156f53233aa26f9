# SPDX-License-Identifier: GPL-2.0-or-later
"""Responses that come one after the other while the host's processor is busy, and that its driver then finds in one piece: each
has its own arrival. The wire's time is as before, and what they waited for the driver is the host's receive path.

Eight at a time, 17 ms after each other. Were all of a piece (some five responses) taken to have come with its last byte, the
wire would take some 20 ms more.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from bed.machine import Machine
from support import fio, network
from support.checks import Test
from support.fio import KIB, READ_4K, READ_128K, Kind, Load
from support.lab_two import Lab
from support.network import TARGET_EGRESS
from support.ntprofctl import recorded, session
from support.report import Group

_BATCH, _BATCHES = 8, 12
# A size for each, so that one session has a table of each, and the same time on the wire.
_QUIET, _BUSY = READ_4K, Kind("8 KiB reads", "read", 8 * KIB, "randread")
_RATES = {_QUIET: "rate 2mbit", _BUSY: "rate 4mbit"}
# Above the driver's priority and below fio's, in real time: 300 ms, then 30 ms for others.
_HOG = """
import os, time
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(5))
while True:
    until = time.monotonic() + 0.3
    while time.monotonic() < until:
        pass
    time.sleep(0.03)
"""
# Who submits a command sends it, too: else a worker would have to, and wait for the processor.
_SEND_AT_ONCE = "for path in /sys/block/nvme*c*n*; do echo none > $path/queue/scheduler; done"
# What is too much for an interrupt goes to ksoftirqd, which would wait for the hog: but that is before the socket.
_INTERRUPTS_FIRST = "chrt --fifo --pid 20 $(pgrep -x ksoftirqd/0)"
_INTERRUPTS_LAST = "chrt --other --pid 0 $(pgrep -x ksoftirqd/0)"


@contextlib.contextmanager
def _busy(machine: Machine) -> Iterator[None]:
    machine.sh(_INTERRUPTS_FIRST)
    hog = machine.start(["/usr/bin/python3", "-c", _HOG])
    try:
        yield
    finally:
        hog.kill()
        machine.sh(_INTERRUPTS_LAST)


def _load(lab: Lab, kind: Kind) -> None:
    argv = fio.command(lab.namespace, [Load(kind, _BATCH * _BATCHES, _BATCH)]) + [
        f"--iodepth_batch={_BATCH}", f"--iodepth_batch_complete_min={_BATCH}", f"--thinktime_blocks={_BATCH}",
        "--thinktime=50000"]
    with network.netem(lab.bed, TARGET_EGRESS, _RATES[kind]):
        lab.host.run(argv, timeout=120, check=True)


def _parts(test: Test, name: str, group: Group) -> dict[str, float]:
    """Mean times in us."""
    test.at_least(f"joined commands, {name}", group.joined, 0.98 * _BATCH * _BATCHES)
    found = {part: group.component("network", part).mean_ns / 1e3 for part in ("host_receive", "target_receive")}
    # Each way by itself is known but for a margin, both together are exact.
    found["wire"] = sum(group.component("network", part).mean_ns for part in ("request_wire", "response_wire")) / 1e3
    found["latency"] = group.mean_ns / 1e3
    test.note(f"{name}: " + ", ".join(f"{part} {us:.0f} us" for part, us in found.items()))
    return found


def run(lab: Lab) -> None:
    with lab.scope.test("responses in one piece: what they wait for the driver is the host's receive path, and the wire's "
                        "time is as before") as test:
        lab.host.sh(_SEND_AT_ONCE)
        with session(lab.host, lab.namespace, "all", "--detail") as recording:
            # Until the connection may have a whole batch under way.
            fio.run(lab.host, lab.namespace, [Load(READ_128K, 100, 8)])
            _load(lab, _QUIET)
            with _busy(lab.host):
                _load(lab, _BUSY)
        report = recorded(recording)
        quiet, busy = (_parts(test, name, report.group(kind)) for name, kind in (("quiet", _QUIET), ("busy", _BUSY)))
        growth = {part: busy[part] - quiet[part] for part in busy}
        test.at_least("growth of the latency", growth["latency"], 50_000, "us")
        test.within("growth of the host's receive path, of the latency's", growth["host_receive"] / growth["latency"], 1,
                    margin=0.15)
        test.at_most("growth of NICs and wire", abs(growth["wire"]), 10_000, "us")
