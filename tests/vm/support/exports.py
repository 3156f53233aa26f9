# SPDX-License-Identifier: GPL-2.0-or-later
"""Drives and subsystems that one case needs: made on the target, connected with the options that it asks for, and gone after."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from .lab import Lab
from .namespaces import appeared

_NQN = "nqn.2026-01.org.ntprof:{}"

_MAKE_NULL = """
item=/sys/kernel/config/nullb/$1
mkdir "$item"
for setting in "${@:2}"; do echo "${setting#*=}" > "$item/${setting%%=*}"; done
echo 1 > "$item/power"
if [ -b "/dev/$1" ]; then echo "/dev/$1"; else echo "/dev/nullb$(cat "$item/index")"; fi
"""

_EXPORT = """
nvmet=/sys/kernel/config/nvmet subsystem=/sys/kernel/config/nvmet/subsystems/$1 nsid=0
mkdir "$subsystem"
echo 1 > "$subsystem/attr_allow_any_host"
for device in "${@:2}"; do
  case $device in
    passthru:*) item=$subsystem/passthru ;;
    *) item=$subsystem/namespaces/$((nsid += 1)); mkdir "$item" ;;
  esac
  echo "${device#*:}" > "$item/device_path"
  case $device in buffered:*) echo 1 > "$item/buffered_io" ;; esac
  echo 1 > "$item/enable"
done
ln -s "$subsystem" $nvmet/ports/1/subsystems/
"""

_UNEXPORT = """
nvmet=/sys/kernel/config/nvmet subsystem=/sys/kernel/config/nvmet/subsystems/$1
rm -f "$nvmet/ports/1/subsystems/$1"
for item in "$subsystem"/passthru "$subsystem"/namespaces/*; do [ ! -e "$item/enable" ] || echo 0 > "$item/enable"; done
for item in "$subsystem"/namespaces/*; do [ ! -d "$item" ] || rmdir "$item"; done
rmdir "$subsystem"
"""

_CONNECT = 'nvme connect --transport=tcp --traddr="$1" --trsvcid=4420 --nqn="$2" --keep-alive-tmo=60 "${@:3}"'


@contextlib.contextmanager
def null_drive(lab: Lab, name: str, **settings: int) -> Iterator[str]:
    """A drive in memory, 100 us a command, with further settings of null_blk; the device's path."""
    wanted = {"size": 64, "blocksize": 4096, "memory_backed": 1, "irqmode": 2, "completion_nsec": 100_000} | settings
    made = lab.target.sh(_MAKE_NULL, name, *(f"{key}={value}" for key, value in wanted.items()))
    try:
        yield made.stdout.strip()
    finally:
        lab.target.sh('item=/sys/kernel/config/nullb/$1; echo 0 > "$item/power"; rmdir "$item"', name)


@contextlib.contextmanager
def mapped(lab: Lab, name: str, table: str) -> Iterator[str]:
    """A device-mapper device of the target; its path."""
    lab.target.sh('dmsetup create "$1" --table "$2"; dmsetup mknodes "$1"; udevadm settle', name, table)
    try:
        yield f"/dev/mapper/{name}"
    finally:
        lab.target.sh('dmsetup resume "$1"; udevadm settle; dmsetup remove --retry "$1"', name)


_MAKE_ARRAY = """
name=$1 level=$2 kib=$3 slot=0
modprobe "$level"
echo "$name" > /sys/module/md_mod/parameters/new_array
cd "/sys/block/$name/md"
echo none > metadata_version; echo "$level" > level; echo 65536 > chunk_size; echo 2 > raid_disks; echo "$kib" > component_size
for device in "${@:4}"; do
  below=$(basename "$(readlink -f "$device")")
  cat "/sys/class/block/$below/dev" > new_dev
  echo "$kib" > "dev-$below/size"
  echo "$slot" > "dev-$below/slot"
  slot=$((slot + 1))
done
echo active > array_state
udevadm settle
"""


@contextlib.contextmanager
def array(lab: Lab, level: str, *devices: str, kib: int = 65536) -> Iterator[str]:
    """An array of the target ("raid0", "raid1") of two devices of that size, without metadata on them; its path."""
    name = f"md{100 + int(level[-1])}"
    lab.target.sh(_MAKE_ARRAY, name, level, str(kib), *devices)
    try:
        yield f"/dev/{name}"
    finally:
        lab.target.sh('udevadm settle; echo clear > "/sys/block/$1/md/array_state"', name)


_MAKE_FILES = """
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0,nodiscard "$2"
mkdir "$1"
mount "$2" "$1"
for file in "${@:4}"; do dd if=/dev/zero of="$1/$file" bs=1M count="$3" conv=fsync status=none; done
"""


@contextlib.contextmanager
def files_on(lab: Lab, device: str, *names: str, mib: int = 8) -> Iterator[list[str]]:
    """Files of the target, written once, in a file system on this device; their paths."""
    folder = "/tmp/files-on-drive"
    lab.target.sh(_MAKE_FILES, folder, device, str(mib), *names)
    try:
        yield [f"{folder}/{name}" for name in names]
    finally:
        lab.target.sh('umount "$1"; rmdir "$1"', folder)


@contextlib.contextmanager
def exported(lab: Lab, name: str, devices: Sequence[str]) -> Iterator[str]:
    """A subsystem with a namespace for each device or file ("buffered:PATH": through the page cache), or one that passes
    commands through to a controller ("passthru:PATH"); its NQN."""
    nqn = _NQN.format(name)
    try:
        lab.target.sh(_EXPORT, nqn, *devices)
        yield nqn
    finally:
        lab.target.sh(_UNEXPORT, nqn)


@contextlib.contextmanager
def connected(lab: Lab, nqn: str, *options: str, namespaces: int = 1) -> Iterator[list[str]]:
    """The host's block devices of a subsystem, connected with these options of nvme connect."""
    try:
        lab.host.sh(_CONNECT, "10.8.0.2", nqn, *options)
        yield appeared(lab.host, nqn, namespaces)
    finally:
        lab.host.run(["nvme", "disconnect", "--nqn", nqn])


@contextlib.contextmanager
def namespace(lab: Lab, name: str, device: str, *options: str) -> Iterator[str]:
    """The host's block device of a namespace on this device."""
    with exported(lab, name, [device]) as nqn, connected(lab, nqn, *options) as found:
        yield found[0]
