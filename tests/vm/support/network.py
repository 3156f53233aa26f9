# SPDX-License-Identifier: GPL-2.0-or-later
"""Delays and bandwidth on the link between host and target."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from bed import Bed
from bed.machine import Machine

HOST_EGRESS = "host egress"
TARGET_EGRESS = "target egress"

_SLOW_PEER = """
tc qdisc add dev "$1" root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
tc qdisc add dev "$1" parent 1:2 netem rate "$2" limit 10000
for end in dport sport; do
  tc filter add dev "$1" parent 1: protocol ip u32 match ip protocol 6 0xff match ip "$end" 4425 0xffff flowid 1:2
done
"""


@contextlib.contextmanager
def netem(bed: Bed, where: str, options: str) -> Iterator[None]:
    """Shape what leaves the host or the target while the block runs, e.g. "delay 5ms"."""
    machine, device = _end(bed, where)
    machine.sh(f"tc qdisc add dev {device} root netem {options} limit 10000")
    try:
        yield
    finally:
        machine.sh(f"tc qdisc del dev {device} root")


@contextlib.contextmanager
def slow_peer(bed: Bed, where: str, rate: str) -> Iterator[None]:
    """Let only what belongs to port 4425 leave the host or the target so slowly, e.g. "256kbit": the drive's traffic passes."""
    machine, device = _end(bed, where)
    machine.sh(_SLOW_PEER, device, rate)
    try:
        yield
    finally:
        machine.sh(f"tc qdisc del dev {device} root")


@contextlib.contextmanager
def cut(bed: Bed) -> Iterator[None]:
    """No packet passes between host and target, and no error tells them."""
    with contextlib.ExitStack() as both:
        for where in (HOST_EGRESS, TARGET_EGRESS):
            both.enter_context(netem(bed, where, "loss 100%"))
        yield


def _end(bed: Bed, where: str) -> tuple[Machine, str]:
    return {HOST_EGRESS: (bed.host, "vh"), TARGET_EGRESS: (bed.target, "vt")}[where]
