# SPDX-License-Identifier: GPL-2.0-or-later
"""The block devices of a subsystem that was just connected."""

from __future__ import annotations

from bed.machine import Machine

# Prints them as soon as there are as many as there should be, and udev has read them. Which is which only the attribute says:
# newer kernels scan namespaces side by side, and number their devices as they come.
_APPEARED = """
for _ in $(seq 200); do
  found=$(for nqn in /sys/class/nvme-subsystem/*/subsysnqn; do
            if [ "$(cat "$nqn")" = "$1" ]; then
              for disk in "${nqn%/*}"/nvme*n* "${nqn%/*}"/nvme*/nvme*n*; do   # without multipathing they are the controller's
                case ${disk##*/} in *c*) ;; *) [ ! -b "/dev/${disk##*/}" ] || echo "$(cat "$disk/nsid") ${disk##*/}" ;; esac
              done
            fi
          done | sort --numeric-sort | cut --delimiter=' ' --fields=2)
  if [ "$(wc --words <<< "$found")" -eq "$2" ]; then udevadm settle; echo "$found"; exit 0; fi
  sleep 0.1
done
echo "namespaces of $1: $found" >&2
exit 1
"""


def appeared(host: Machine, nqn: str, count: int) -> list[str]:
    """Names of the host's block devices, by nsid, once there are so many."""
    return host.sh(_APPEARED, nqn, str(count)).stdout.split()
