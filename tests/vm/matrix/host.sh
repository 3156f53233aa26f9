#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Connect to a drive of the matrix, ready to measure, and print its block device.
# usage: host.sh TRANSPORT ADDRESS SERVICE NAME [OPTION OF NVME CONNECT ...]
set -euo pipefail
transport=$1 address=$2 service=$3 nqn=nqn.2026-01.org.ntprof:matrix-$1-$4
shift 4

find_controller() {
  local controller
  for controller in /sys/class/nvme/nvme*; do
    if [ "$(cat "$controller/subsysnqn" 2>/dev/null)" = "$nqn" ]; then echo "${controller##*/}"; return; fi
  done
}

modprobe "nvme-$transport"
[ -n "$(find_controller)" ] ||
  nvme connect --transport="$transport" --traddr="$address" --trsvcid="$service" --nqn="$nqn" --keep-alive-tmo=60 "$@" >&2
number=$(find_controller)
number=${number#nvme}
for _ in {1..200}; do
  [ ! -b "/dev/nvme${number}n1" ] || break
  sleep 0.1
done
device=nvme${number}n1
path=/sys/block/nvme${number}c${number}n1/queue
# As it is by itself where a controller has more than one queue. With a scheduler what waits for a driver's tag has had its
# request, and waits in the scheduler.
echo none > "$path/scheduler"
echo 2 > "$path/nomerges"
udevadm settle
echo "$device"
