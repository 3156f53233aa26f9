#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Connect to a subsystem of the target, unless it is connected, and print its block device.
# usage: host.sh tcp|rdma ADDRESS HOSTID bed|slow
set -euo pipefail
transport=$1 address=$2 hostid=$3 subsystem=nqn.2026-01.org.ntprof:$4

# namespace_of NQN: the block device of the subsystem's first namespace, nothing while there is none.
namespace_of() {
  local entry
  for entry in /sys/class/nvme-subsystem/*/subsysnqn; do
    [ "$(cat "$entry")" = "$1" ] || continue
    find "${entry%/*}/" -maxdepth 1 -name 'nvme*n1' -printf '%f\n'
  done
}

mkdir -p /etc/nvme
echo "nqn.2014-08.org.nvmexpress:uuid:$hostid" > /etc/nvme/hostnqn
echo "$hostid" > /etc/nvme/hostid
modprobe "nvme-$transport"
device=$(namespace_of "$subsystem")
if [ -z "$device" ]; then
  # The guests' seconds can be long ones: a keep-alive that expires would end the test, not tell anything.
  nvme connect --transport="$transport" --traddr="$address" --trsvcid=4420 --nqn="$subsystem" --keep-alive-tmo=60
fi
for _ in {1..200}; do
  device=$(namespace_of "$subsystem")
  [ ! -b "/dev/$device" ] || break
  sleep 0.1
done
[ -b "/dev/$device" ] || { echo "$subsystem: no namespace appeared" >&2; exit 1; }
echo "$device"
