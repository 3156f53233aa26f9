# SPDX-License-Identifier: GPL-2.0-or-later
"""A further subsystem of the bed's target, connected with options of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from bed import Bed

SLOW_DRIVE = "nullb_slow"
"""Of 5 ms."""

_EXPORT = """
nvmet=/sys/kernel/config/nvmet subsystem=/sys/kernel/config/nvmet/subsystems/$1
device=/dev/$2
[ -b "$device" ] || device=/dev/nullb$(cat "/sys/kernel/config/nullb/$2/index")
mkdir "$subsystem"
echo 1 > "$subsystem/attr_allow_any_host"
mkdir "$subsystem/namespaces/1"
echo "$device" > "$subsystem/namespaces/1/device_path"
echo 1 > "$subsystem/namespaces/1/enable"
ln -s "$subsystem" "$nvmet/ports/1/subsystems/"
"""
_WITHDRAW = """
rm -f "/sys/kernel/config/nvmet/ports/1/subsystems/$1"
subsystem=/sys/kernel/config/nvmet/subsystems/$1
[ ! -e "$subsystem" ] || { rmdir "$subsystem"/namespaces/* "$subsystem"; }
"""
# No scheduler, as where a controller has several queues: with one, a request has no tag of the driver's while it waits there.
_CONNECT = """
nqn=$1
shift
nvme connect --transport=tcp --traddr=10.8.0.2 --trsvcid=4420 --nqn="$nqn" --keep-alive-tmo=60 "$@" >&2
for controller in /sys/class/nvme/nvme*; do
  [ "$(cat "$controller/subsysnqn")" != "$nqn" ] || name=${controller##*/}
done
for _ in $(seq 100); do [ ! -b "/dev/${name}n1" ] || break; sleep 0.1; done
udevadm settle
queue=/sys/block/${name}c${name#nvme}n1/queue
echo none > "$queue/scheduler"
echo 2 > "$queue/nomerges"
echo "${name}n1"
"""


@contextlib.contextmanager
def connected(bed: Bed, name: str, drive: str, options: Sequence[str]) -> Iterator[str]:
    """Export a drive of the target's (a null_blk of the bed's) once more over TCP; the host's block device of it."""
    nqn = f"nqn.2026-01.org.ntprof:{name}"
    bed.target.sh(_EXPORT, nqn, drive)
    try:
        yield bed.host.sh(_CONNECT, nqn, *options).stdout.strip()
    finally:
        bed.host.sh('nvme disconnect --nqn="$1"', nqn)
        bed.target.sh(_WITHDRAW, nqn)
