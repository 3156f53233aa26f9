# SPDX-License-Identifier: GPL-2.0-or-later
"""Another program on the target's processor takes its time from the target's driver, and from what waits for it before T1; on
the host's, from the host's stages, and from what waits for it after T9: with one command at a time that is nearly all, as who
submits a command has the processor and goes on to send it. The drive is as before, and so is the other machine.

Judged by shares of what the latency grows by, in one bed, with quiet phases between: two machines here share two cores.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence

from bed.machine import Machine
from support import fio
from support.checks import Test
from support.fio import READ_4K
from support.lab_two import Lab
from support.ntprofctl import recorded, session

_IOPS = 25
"""Far from what they can do, so that no queue fills."""
_SECONDS = 7
# In real time, so that it takes its turns whoever waits: 10 ms, then 2.5 ms for the others.
_HOG = ["chrt", "--fifo", "5", "stress-ng", "--cpu", "1", "--cpu-load", "80", "--cpu-load-slice", "10", "--timeout", "120"]
_GROWTH_US = 2000
"""The least that it adds; some 5000 are usual."""

_HOST = ("host_block", "host_driver")
Parts = dict[str, float]
"""Mean times in us: stages, and the two ways of the network."""


@contextlib.contextmanager
def _busy(machine: Machine | None) -> Iterator[None]:
    if machine is None:
        yield
        return
    hog = machine.start(_HOG)
    try:
        yield
    finally:
        hog.kill()


def _measure(lab: Lab, test: Test, name: str, machine: Machine | None) -> Parts:
    with session(lab.host, lab.namespace) as recording:
        load = fio.start_endless(lab.host, lab.namespace, iops=_IOPS)
        try:
            # A program that starts would have no time left by the other one.
            deadline = time.monotonic() + 60
            while not recording.show()["commands"]:
                assert time.monotonic() < deadline, "fio began nothing in 60 s"
                time.sleep(0.2)
            with _busy(machine):
                time.sleep(_SECONDS)
        finally:
            load.kill()
    group = recorded(recording).group(READ_4K)
    parts = {stage: ns / 1e3 for stage, ns in group.stages.items()}
    for way in ("request", "response"):
        parts[way] = group.component("network", way).mean_ns / 1e3
    test.at_least(f"joined commands, {name}", group.joined, 0.5 * _IOPS * _SECONDS)
    test.note(f"{name}: mean {group.mean_ns / 1e3:.0f} us: " + ", ".join(f"{part} {us:.0f}" for part, us in parts.items()))
    return {**parts, "latency": group.mean_ns / 1e3}


def _check(test: Test, quiet: Sequence[Parts], busy: Parts, taken: tuple[str, ...], grows: tuple[str, ...],
           elsewhere: tuple[str, ...]) -> None:
    before = {part: sum(parts[part] for parts in quiet) / len(quiet) for part in busy}
    growth = {part: busy[part] - before[part] for part in busy}
    if not test.at_least("growth of the latency", growth["latency"], _GROWTH_US, "us"):
        return
    test.at_least(f"growth of {' + '.join(taken)}, of the latency's",
                  sum(growth[part] for part in taken) / growth["latency"], 0.6)
    for part in grows:
        test.at_least(f"{part}, against quiet", busy[part] / before[part], 1.3)
    for part in elsewhere:
        test.at_most(f"growth of {part}, of the latency's", growth[part] / growth["latency"], 0.15)


def run(lab: Lab) -> None:
    measured: dict[str, Parts] = {}
    with lab.scope.test("the stages are measured with nothing else, a busy target, nothing else, a busy host") as test:
        for name, machine in (("quiet", None), ("busy target", lab.target), ("quiet again", None), ("busy host", lab.host)):
            measured[name] = _measure(lab, test, name, machine)
    if "busy host" not in measured:
        return
    quiet = (measured["quiet"], measured["quiet again"])
    with lab.scope.test("a busy target: the target's driver grows, and the request's way to T1; the host's stages and the "
                        "drive do not") as test:
        _check(test, quiet, measured["busy target"], ("target_driver", "request"), ("target_driver",), (*_HOST, "storage"))
    with lab.scope.test("a busy host: its stages and the response's way from T9 grow; the request's, the target's driver and "
                        "the drive do not") as test:
        _check(test, quiet, measured["busy host"], (*_HOST, "response"), ("response",),
               ("request", "target_driver", "storage"))
