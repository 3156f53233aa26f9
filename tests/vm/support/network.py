# SPDX-License-Identifier: GPL-2.0-or-later
"""Delays and bandwidth on the link between host and target."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from bed import Bed

HOST_EGRESS = "host egress"
TARGET_EGRESS = "target egress"


@contextlib.contextmanager
def netem(bed: Bed, where: str, options: str) -> Iterator[None]:
    """Shape what leaves the host or the target while the block runs, e.g. "delay 5ms"."""
    machine, device = {HOST_EGRESS: (bed.host, "vh"), TARGET_EGRESS: (bed.target, "vt")}[where]
    machine.sh(f"tc qdisc add dev {device} root netem {options} limit 10000")
    try:
        yield
    finally:
        machine.sh(f"tc qdisc del dev {device} root")
