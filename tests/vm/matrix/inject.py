# SPDX-License-Identifier: GPL-2.0-or-later
"""How each injection is done."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bed import Bed
from bed.machine import Machine
from support import network

from . import plan
from .load import FOLDER, GO

_SPIN = Path(__file__).with_name("spin.bpf.c")
_BUSY_MS, _FREE_MS = 300, 40
# Interrupts' work is the NIC's here, also when a thread does it: soft-RoCE's on 6.12 is in unbound workers, and what is too
# much for an interrupt goes to ksoftirqd.
_RAISE = """
sysctl -qw kernel.sched_rt_runtime_us=-1
chrt --fifo --pid 20 "$(pgrep -x ksoftirqd/0)"
"""
_RAISE_WORKERS = 'for worker in $(pgrep "^kworker/u"); do chrt --fifo --pid 20 "$worker" 2>/dev/null || true; done'


_LOWER = """
sysctl -qw kernel.sched_rt_runtime_us=950000
chrt --other --pid 0 "$(pgrep -x ksoftirqd/0)"
"""


def prepare(machine: Machine) -> None:
    machine.sh(_RAISE)


def restore(machine: Machine) -> None:
    machine.sh(_LOWER)


@contextlib.contextmanager
def _burner(machine: Machine, go: bool, rdma: bool) -> Iterator[None]:
    """go: from when the load begins; else at once, as it is issued elsewhere."""
    machine.sh((_RAISE_WORKERS if rdma else "") + f"\n{'rm -f' if go else 'touch'} {GO}")
    burner = machine.start(["chrt", "--fifo", "5", "python3", f"{FOLDER}/burner.py", GO, str(_BUSY_MS), str(_FREE_MS)])
    try:
        yield
    finally:
        burner.kill()


def build_spin(machine: Machine) -> None:
    """The programs of spin.bpf.c, made here."""
    with tempfile.TemporaryDirectory() as folder:
        for name, options in (("poll", []), ("submission", ["-DSUBMISSION"])):
            made = f"{folder}/{name}.o"
            subprocess.run(["clang", "-g", "-O2", "-target", "bpf", f"-I/usr/include/{os.uname().machine}-linux-gnu", *options,
                            "-c", str(_SPIN), "-o", made], check=True)
            machine.put(made, f"{FOLDER}/{name}.o")


_WAIT_READY = """
for _ in $(seq 300); do [ ! -e "$1" ] || exit 0; sleep 0.1; done
echo "its programs are not attached" >&2
exit 1
"""


@contextlib.contextmanager
def _spinning(machine: Machine, name: str) -> Iterator[None]:
    ready = f"{FOLDER}/spinning"
    machine.sh(f"rm -f {ready}")
    running = machine.start(["python3", f"{FOLDER}/spin.py", f"{FOLDER}/{name}.o", ready])
    try:
        machine.sh(_WAIT_READY, ready)
        yield
    finally:
        running.kill()


@contextlib.contextmanager
def inject(bed: Bed, injection: plan.Injection | None, transport: str) -> Iterator[None]:
    """While the block runs; None injects nothing."""
    if injection in (plan.TO_TARGET, plan.TO_HOST):
        where = network.HOST_EGRESS if injection is plan.TO_TARGET else network.TARGET_EGRESS
        with network.netem(bed, where, "delay 150ms"):
            yield
    elif transport == "rdma" and injection in (plan.HOST_CPU, plan.RECEIVE):
        with _spinning(bed.host, "submission" if injection is plan.HOST_CPU else "poll"):
            yield
    elif injection in (plan.TARGET_CPU, plan.HOST_CPU, plan.RECEIVE):
        on_target = injection is plan.TARGET_CPU
        with _burner(bed.target if on_target else bed.host, not on_target, transport == "rdma"):
            yield
    else:
        yield
