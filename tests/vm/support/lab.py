# SPDX-License-Identifier: GPL-2.0-or-later
"""A bed made ready for measuring, and what the cases need of it."""

from __future__ import annotations

from dataclasses import dataclass

from bed import Bed
from bed.machine import Machine

from . import fio
from .checks import Scope

_PREPARE = """
# udev reads a device that a writer closes. Those reads would be counted too, rightly.
mkdir -p /run/udev/rules.d
echo 'KERNEL=="nvme*", OPTIONS:="nowatch"' > /run/udev/rules.d/99-bed.rules
udevadm control --reload
for device; do udevadm trigger --settle --action=change "/dev/$device"; done
# Neighbouring I/Os that the block layer makes one command of could not be counted against fio's.
for merges in /sys/block/nvme*/queue/nomerges; do echo 2 > "$merges"; done
# fio's buffers (support/fio.py)
echo 24 > /proc/sys/vm/nr_hugepages
# Else a connection begins anew with ten segments in flight after each pause, and a long command takes more round trips.
sysctl -qw net.ipv4.tcp_slow_start_after_idle=0
nsenter --net=/run/netns/tgt sysctl -qw net.ipv4.tcp_slow_start_after_idle=0
"""


@dataclass
class Lab:
    """A bed with one machine, its two namespaces written once."""

    bed: Bed
    scope: Scope
    namespace: str
    slow_namespace: str

    @staticmethod
    def prepare(bed: Bed, scope: Scope) -> Lab:
        slow = bed.slow_namespace
        bed.host.sh(_PREPARE, bed.namespace, slow, timeout=120)
        for namespace in (bed.namespace, slow):
            fio.fill(bed.host, namespace)
        return Lab(bed, scope, bed.namespace, slow)

    @property
    def host(self) -> Machine:
        return self.bed.host

    @property
    def target(self) -> Machine:
        return self.bed.target
