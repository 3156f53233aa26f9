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
[ ! -e /run/netns/tgt ] || nsenter --net=/run/netns/tgt sysctl -qw net.ipv4.tcp_slow_start_after_idle=0
"""


_WAIT_PCIE = """
for _ in $(seq 100); do
  for controller in /sys/class/nvme/nvme*; do
    if [ "$(cat "$controller/transport")" = pcie ] && [ -b "/dev/${controller##*/}n1" ]; then
      echo "${controller##*/}n1"; exit 0
    fi
  done
  sleep 0.1
done
exit 1
"""


def plug_drive(bed: Bed) -> str:
    """The block device of a local NVMe drive, plugged in now if it was not yet."""
    present = bed.host.sh("cat /sys/class/nvme/nvme*/transport").stdout.split()
    if "pcie" not in present:
        drive = {"driver": "null-co", "node-name": "local", "size": fio.REGION, "read-zeroes": True}
        bed.host.qmp("blockdev-add", **drive)
        bed.host.qmp("device_add", driver="nvme", bus="socket", id="local-drive", drive="local", serial="local")
    return bed.host.sh(_WAIT_PCIE).stdout.strip()


def prepare_host(bed: Bed, *namespaces: str, written: bool = False) -> None:
    """Make the host, and namespaces that are connected, ready for loads whose every command is counted. written: their drives
    have been written once."""
    bed.host.sh(_PREPARE, *namespaces, timeout=120)
    for namespace in () if written else namespaces:
        fio.fill(bed.host, namespace)


@dataclass
class Laboratory:
    """What all have: a bed, and its namespace written once."""

    bed: Bed
    scope: Scope
    namespace: str

    @property
    def host(self) -> Machine:
        return self.bed.host

    @property
    def target(self) -> Machine:
        return self.bed.target


@dataclass
class Lab(Laboratory):
    """A bed with one machine, its two namespaces written once, and a local drive."""

    slow_namespace: str
    local_namespace: str
    """Of a PCIe drive: nothing of it belongs in a report."""

    @staticmethod
    def prepare(bed: Bed, scope: Scope) -> Lab:
        slow, local = bed.slow_namespace, plug_drive(bed)
        prepare_host(bed, bed.namespace, slow)
        return Lab(bed, scope, bed.namespace, slow, local)
