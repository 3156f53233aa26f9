# SPDX-License-Identifier: GPL-2.0-or-later
"""How each injection is done."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from bed import Bed
from bed.machine import Machine
from support import network

from . import plan
from .load import FOLDER, GO

_BUSY_MS, _FREE_MS = 150, 15
# Interrupts' work is the NIC's here, also when a thread does it: soft-RoCE's on 6.12 is in unbound workers, and what is too much
# for an interrupt goes to ksoftirqd.
_RAISE = """
sysctl -qw kernel.sched_rt_runtime_us=-1
chrt --fifo --pid 20 "$(pgrep -x ksoftirqd/0)"
"""
_RAISE_WORKERS = 'for worker in $(pgrep "^kworker/u"); do chrt --fifo --pid 20 "$worker" 2>/dev/null || true; done'


def prepare(machine: Machine) -> None:
    machine.sh(_RAISE)


@contextlib.contextmanager
def _burner(machine: Machine, go: bool, rdma: bool) -> Iterator[None]:
    machine.sh((_RAISE_WORKERS if rdma else "") + f"\n{'rm -f' if go else 'touch'} {GO}")
    burner = machine.start(["chrt", "--fifo", "5", "python3", f"{FOLDER}/burner.py", GO, str(_BUSY_MS), str(_FREE_MS)])
    try:
        yield
    finally:
        burner.kill()


@contextlib.contextmanager
def inject(bed: Bed, injection: plan.Injection | None, transport: str) -> Iterator[None]:
    """While the block runs; None injects nothing."""
    if injection in (plan.TO_TARGET, plan.TO_HOST):
        where = network.HOST_EGRESS if injection is plan.TO_TARGET else network.TARGET_EGRESS
        with network.netem(bed, where, "delay 150ms"):
            yield
    elif injection in (plan.TARGET_CPU, plan.HOST_CPU, plan.RECEIVE):
        with _burner(bed.target if injection is plan.TARGET_CPU else bed.host, injection is not plan.TARGET_CPU, transport == "rdma"):
            yield
    else:
        yield
