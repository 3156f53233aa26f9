#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Take back what target.sh made, once no host is connected to it.
set -euo pipefail
nvmet=/sys/kernel/config/nvmet
rm -f $nvmet/ports/*/subsystems/nqn.2026-01.org.ntprof:matrix-*
for subsystem in "$nvmet"/subsystems/nqn.2026-01.org.ntprof:matrix-*; do
  [ -e "$subsystem" ] || continue
  rmdir "$subsystem/namespaces/1" "$subsystem"
done
[ ! -e $nvmet/ports/2 ] || rmdir $nvmet/ports/2
rmdir /sys/kernel/config/nullb/matrix_* 2>/dev/null || true
rdma link delete rxe0
