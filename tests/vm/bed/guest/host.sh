#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Connect to a subsystem of the targets at each address, as far as it is not connected, and print its block device.
# usage: host.sh tcp|rdma HOSTID bed|slow|other|both ADDRESS ...
set -euo pipefail
transport=$1 hostid=$2 nqn=nqn.2026-01.org.ntprof:$3
shift 3

# namespace_of NQN: the block device of the subsystem's first namespace, nothing while there is none. Without multipathing it is
# the controller's.
namespace_of() {
  local entry
  for entry in /sys/class/nvme-subsystem/*/subsysnqn; do
    [ "$(cat "$entry")" = "$1" ] || continue
    find "${entry%/*}/" "${entry%/*}"/nvme*/ -maxdepth 1 -regex '.*/nvme[0-9]+n1' -printf '%f\n'
  done
}

# connected NQN ADDRESS: whether there is a controller for it.
connected() {
  local controller
  for controller in /sys/class/nvme/nvme*; do
    [ "$(cat "$controller/subsysnqn" 2>/dev/null)" = "$1" ] || continue
    case $(cat "$controller/address") in traddr=$2,*) return 0 ;; esac
  done
  return 1
}

# The guests' seconds can be long ones: a keep-alive that expires would end the test, not tell anything.
connect() {
  nvme connect --transport="$transport" --traddr="$2" --trsvcid=4420 --nqn="$1" --keep-alive-tmo=60
}

# A target that says it has more namespaces with ANA than it can have (MNAN is 1024, NN is 1: Linux 5.10) is refused by later hosts
# (nvme_mpath_init_identify()), unless they have no multipathing.
without_multipath() {
  grep -q 'Invalid MNAN value' <(dmesg) || return   # in a pipe dmesg could fail, for want of a reader
  rmmod "nvme-$transport" nvme-fabrics
  if grep -q '^nvme ' /proc/modules; then rmmod nvme; fi
  rmmod nvme-core
  modprobe nvme-core multipath=N
  modprobe "nvme-$transport"
}

mkdir -p /etc/nvme
echo "nqn.2014-08.org.nvmexpress:uuid:$hostid" > /etc/nvme/hostnqn
echo "$hostid" > /etc/nvme/hostid
modprobe "nvme-$transport"
for address; do
  connected "$nqn" "$address" || connect "$nqn" "$address" || { without_multipath && connect "$nqn" "$address"; }
done
device=
for _ in {1..200}; do
  device=$(namespace_of "$nqn")
  [ ! -b "/dev/$device" ] || break
  sleep 0.1
done
[ -b "/dev/$device" ] || { echo "$nqn: no namespace appeared" >&2; exit 1; }
if [ $# -gt 1 ]; then echo round-robin > "/sys/class/block/$device/device/iopolicy"; fi
echo "$device"
