#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Give the machine its addresses: vh 10.8.0.1 is the host's interface, vt 10.8.0.2 the target's. A second target's wire is
# vh2 10.9.0.1 here and vt 10.9.0.2 there. usage: network.sh both|host|target|target2
set -euo pipefail
role=$1

ip link set lo up
case $role in
  both)
    ip netns add tgt
    ip link add vh type veth peer name vt netns tgt
    nsenter --net=/run/netns/tgt ip link set lo up
    nsenter --net=/run/netns/tgt ip address add 10.8.0.2/24 dev vt
    nsenter --net=/run/netns/tgt ip link set vt up
    interface=vh address=10.8.0.1 ;;
  host) interface=vh address=10.8.0.1 ;;
  target) interface=vt address=10.8.0.2 ;;
  target2) interface=vt address=10.9.0.2 ;;
esac
if [ "$role" != both ]; then
  ip link set eth0 down
  ip link set eth0 name "$interface"
  hostname "$role"
fi
ip address add "$address/24" dev "$interface"
ip link set "$interface" up
if [ "$role" = host ] && [ -e /sys/class/net/eth1 ]; then
  ip link set eth1 name vh2
  ip address add 10.9.0.1/24 dev vh2
  ip link set vh2 up
fi
