#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Export two subsystems: :bed on the drive that was asked for, :slow on one that takes 5 ms a command. A second target exports
# :other instead; and with three machines both targets export :both, one namespace with a path to each.
# nvmet's TCP socket is made in the network namespace of this script.
# usage: target.sh tcp|rdma ADDRESS null|nvme|disk target|target2 MACHINES
set -euo pipefail
transport=$1 address=$2 drive=$3 role=$4 machines=$5
nqn=nqn.2026-01.org.ntprof
nvmet=/sys/kernel/config/nvmet
megabytes=512

# null_device NAME NANOSECONDS: a drive in memory that completes each command after that time. (null_blk cannot
# change the time of a drive in use.) Its name is nullbN before Linux 6.2, NAME since then.
null_device() {
  local item=/sys/kernel/config/nullb/$1
  mkdir "$item"
  echo $megabytes > "$item/size"
  echo 4096 > "$item/blocksize"
  echo 1 > "$item/memory_backed"
  echo 2 > "$item/irqmode"
  echo "$2" > "$item/completion_nsec"
  echo 1 > "$item/power"
  if [ -b "/dev/$1" ]; then echo "/dev/$1"; else echo "/dev/nullb$(cat "$item/index")"; fi
}

# pcie_nvme: the machine's own NVMe drive, not one that came over fabrics.
pcie_nvme() {
  local controller device
  for _ in {1..100}; do
    for controller in /sys/class/nvme/nvme*; do
      device=/dev/${controller##*/}n1
      if [ "$(cat "$controller/transport" 2>/dev/null)" = pcie ] && [ -b "$device" ]; then
        echo "$device"
        return
      fi
    done
    sleep 0.1
  done
  echo "no PCIe NVMe drive" >&2
  return 1
}

# export_device NAME DEVICE. What identifies it is made from its name: the same after a reset, and the same on both targets.
export_device() {
  local subsystem=$nvmet/subsystems/$nqn:$1 id first=1
  id=$(printf %s "$1" | md5sum | cut --characters=-32)
  if [ "$role" = target2 ]; then first=1001; fi
  mkdir "$subsystem"
  echo 1 > "$subsystem/attr_allow_any_host"
  echo "${id::20}" > "$subsystem/attr_serial"
  echo $((first + 999)) > "$subsystem/attr_cntlid_max"
  echo $first > "$subsystem/attr_cntlid_min"
  mkdir "$subsystem/namespaces/1"
  echo "$2" > "$subsystem/namespaces/1/device_path"
  echo "$id" > "$subsystem/namespaces/1/device_nguid"
  echo "${id::8}-${id:8:4}-${id:12:4}-${id:16:4}-${id:20}" > "$subsystem/namespaces/1/device_uuid"
  echo 1 > "$subsystem/namespaces/1/enable"
  ln -s "$subsystem" $nvmet/ports/1/subsystems/
}

modprobe null_blk nr_devices=0
modprobe "nvmet-$transport"
mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config

case $drive in
  null) device=$(null_device nullb_bed 100000) ;;
  nvme) modprobe nvme; device=$(pcie_nvme) ;;
  disk) device=/dev/vdb ;;
esac

port=$nvmet/ports/1
mkdir $port
echo ipv4 > $port/addr_adrfam
echo "$transport" > $port/addr_trtype
echo "$address" > $port/addr_traddr
echo 4420 > $port/addr_trsvcid
if [ "$role" = target ]; then
  export_device bed "$device"
  export_device slow "$(null_device nullb_slow 5000000)"
else
  export_device other "$device"
fi
if [ "$machines" -eq 3 ]; then export_device both "$(null_device nullb_both 100000)"; fi
