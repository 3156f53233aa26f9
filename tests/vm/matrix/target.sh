#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Export the drives of the matrix over TCP (the bed's port) and RDMA (a port of their own), each as a subsystem of its own,
# nqn.2026-01.org.ntprof:matrix-TRANSPORT-NAME, and print nothing. usage: target.sh ADDRESS RDMA_SERVICE NAME=NANOSECONDS ...
# A drive has a write cache: without one the kernel's target answers a flush itself, and no drive is asked.
set -euo pipefail
address=$1 rdma_service=$2
shift 2
nqn=nqn.2026-01.org.ntprof:matrix
nvmet=/sys/kernel/config/nvmet
nullb=/sys/kernel/config/nullb

# drive NAME NANOSECONDS: its device; it completes each command after that time.
drive() {
  local item=$nullb/matrix_$1
  mkdir "$item"
  echo 256 > "$item/size"
  echo 4096 > "$item/blocksize"
  echo 1 > "$item/memory_backed"
  echo 64 > "$item/cache_size"
  echo 2 > "$item/irqmode"
  echo "$2" > "$item/completion_nsec"
  echo 1 > "$item/power"
  # Its name is nullbN before Linux 6.2, its folder's since then.
  if [ -b "/dev/matrix_$1" ]; then echo "/dev/matrix_$1"; else echo "/dev/nullb$(cat "$item/index")"; fi
}

# export_drive PORT TRANSPORT NAME DEVICE
export_drive() {
  local subsystem=$nvmet/subsystems/$nqn-$2-$3
  mkdir "$subsystem"
  echo 1 > "$subsystem/attr_allow_any_host"
  mkdir "$subsystem/namespaces/1"
  echo "$4" > "$subsystem/namespaces/1/device_path"
  echo 1 > "$subsystem/namespaces/1/enable"
  ln -s "$subsystem" "$nvmet/ports/$1/subsystems/"
}

modprobe -a nvmet-rdma rdma_rxe
rdma link add rxe0 type rxe netdev vt
port=$nvmet/ports/2
mkdir $port
echo ipv4 > $port/addr_adrfam
echo rdma > $port/addr_trtype
echo "$address" > $port/addr_traddr
echo "$rdma_service" > $port/addr_trsvcid

for wanted; do
  name=${wanted%=*}
  device=$(drive "$name" "${wanted#*=}")
  export_drive 1 tcp "$name" "$device"
  export_drive 2 rdma "$name" "$device"
done
