# SPDX-License-Identifier: GPL-2.0-or-later
"""A subsystem over RDMA (Soft-RoCE), beside what the bed has over TCP.

The kernel's RDMA target knows no other network namespace than the first one: with one machine it listens on the host's own
address, and netem does not act on it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from bed import HOST_ADDRESS, TARGET_ADDRESS, Bed
from bed.machine import Machine

from . import fio
from .lab import prepare_host
from .namespaces import appeared

NQN = "nqn.2026-01.org.ntprof:rdma"
PORT = "4421"

# Namespace 1 is on a drive of 100 us that has a write cache (so it is flushed), namespace 2 on the bed's of 5 ms.
_EXPORT = """
nvmet=/sys/kernel/config/nvmet nqn=$1 address=$2 port=$3 interface=$4
modprobe -a rdma_rxe nvmet-rdma
rdma link add rxe0 type rxe netdev $interface
drive=/sys/kernel/config/nullb/nullb_rdma
mkdir $drive
echo 256 > $drive/size
echo 4096 > $drive/blocksize
echo 1 > $drive/memory_backed
echo 16 > $drive/cache_size
echo 2 > $drive/irqmode
echo 100000 > $drive/completion_nsec
echo 1 > $drive/power
if [ -b /dev/nullb_rdma ]; then device=/dev/nullb_rdma; else device=/dev/nullb$(cat $drive/index); fi
for slow in /dev/nullb1 /dev/nullb_slow; do [ ! -b $slow ] || break; done
# Written once, here, which is faster than over Soft-RoCE.
for drive in $device $slow; do dd if=/dev/zero of=$drive bs=1M count=$5 oflag=direct status=none; done
mkdir $nvmet/subsystems/$nqn
cd $nvmet/subsystems/$nqn
echo 1 > attr_allow_any_host
mkdir namespaces/1 namespaces/2
echo $device > namespaces/1/device_path
echo $slow > namespaces/2/device_path
echo 1 > namespaces/1/enable
echo 1 > namespaces/2/enable
mkdir $nvmet/ports/2
cd $nvmet/ports/2
echo ipv4 > addr_adrfam; echo rdma > addr_trtype; echo $address > addr_traddr; echo $port > addr_trsvcid
ln -s $nvmet/subsystems/$nqn subsystems/
echo ${device#/dev/}
"""
_UNEXPORT = """
nvmet=/sys/kernel/config/nvmet nqn=$1
rm --force $nvmet/ports/2/subsystems/*
rmdir $nvmet/ports/2 $nvmet/subsystems/$nqn/namespaces/* $nvmet/subsystems/$nqn
echo 0 > /sys/kernel/config/nullb/nullb_rdma/power
rmdir /sys/kernel/config/nullb/nullb_rdma
rdma link delete rxe0
"""
_CONNECT = """
nqn=$1 address=$2 port=$3 interface=$4
modprobe -a rdma_rxe nvme-rdma
[ -e /sys/class/infiniband/rxe0 ] || rdma link add rxe0 type rxe netdev $interface
nvme connect --transport=rdma --traddr=$address --trsvcid=$port --nqn=$nqn --keep-alive-tmo=60
"""
# A second path, by RDMA, to a subsystem that is connected by TCP.
_ADD_PATH = """
nvmet=/sys/kernel/config/nvmet nqn=$1 address=$2 port=$3
ln -s $nvmet/subsystems/$nqn $nvmet/ports/2/subsystems/
nvme connect --transport=rdma --traddr=$address --trsvcid=$port --nqn=$nqn --keep-alive-tmo=60
for _ in $(seq 100); do
  for path in /sys/class/nvme/*; do
    if [ "$(cat $path/transport) $(cat $path/subsysnqn) $(cat $path/state)" = "rdma $nqn live" ]; then
      for subsystem in /sys/class/nvme-subsystem/*; do
        [ "$(cat $subsystem/subsysnqn)" != $nqn ] || echo round-robin > $subsystem/iopolicy
      done
      basename $path
      exit 0
    fi
  done
  sleep 0.1
done
exit 1
"""


@dataclass(frozen=True)
class Rdma:
    """What is connected."""

    namespace: str
    slow_namespace: str
    """Its drive takes 5 ms."""
    drive: str
    """The target's block device behind namespace."""


def _places(bed: Bed) -> tuple[Machine, str, str]:
    """The machine that exports, the address, the interface."""
    if bed.facts.wish.machines == 1:
        return bed.host, HOST_ADDRESS, "vh"
    return bed.target, TARGET_ADDRESS, "vt"


@contextlib.contextmanager
def connected(bed: Bed) -> Iterator[Rdma]:
    """Exported, connected, and written once."""
    target, address, interface = _places(bed)
    drive = target.sh(_EXPORT, NQN, address, PORT, interface, str(fio.REGION // fio.MIB)).stdout.strip()
    try:
        bed.host.sh(_CONNECT, NQN, address, PORT, "vh")
        namespace, slow = appeared(bed.host, NQN, 2)
        prepare_host(bed, namespace, slow, written=True)
        yield Rdma(namespace, slow, drive)
    finally:
        bed.host.sh('nvme disconnect --nqn="$1" >/dev/null || true', NQN)
        target.sh(_UNEXPORT, NQN)
        if target is not bed.host:
            bed.host.sh("rdma link delete rxe0 || true")


@contextlib.contextmanager
def second_path(bed: Bed, nqn: str) -> Iterator[None]:
    """Inside of connected(): the same namespace of a subsystem that is connected by TCP, by RDMA too, turn by turn. One machine."""
    _, address, _ = _places(bed)
    controller = bed.host.sh(_ADD_PATH, nqn, address, PORT).stdout.strip()
    try:
        yield
    finally:
        bed.host.sh('nvme disconnect --device="$1" >/dev/null; rm "/sys/kernel/config/nvmet/ports/2/subsystems/$2"', controller,
                    nqn)
