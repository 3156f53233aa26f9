# SPDX-License-Identifier: GPL-2.0-or-later
"""NVMe/TCP with TLS (1.3, by a pre-shared key): a port of the target that takes nothing else, and connections to it.

The handshake is not done by the kernel but by tlshd, one for each network namespace. Debian 12 has none, nor an nvme-cli that
knows of TLS; so tlshd comes from Debian 13 with its libraries, and what nvme-cli would do is done here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from bed import TARGET_ADDRESS, newer

from .lab import Lab
from .namespaces import appeared

PORT = "4429"
_TLSHD = ("trixie", "ktls-utils", "usr/sbin/tlshd")
"""Not a later one: 1.4 sets an option of the socket that 6.12 does not have (TLS_TX_MAX_PAYLOAD_LEN), and fails without."""
_PLACE = "/opt/tlshd"
_CONFIGURATION = f"{_PLACE}/tlshd.conf"
_UNITS: dict[str, tuple[str, ...]] = {"tlshd-host": (), "tlshd-target": ("--property=NetworkNamespacePath=/run/netns/tgt",)}

_OPEN_PORT = """
mkdir /sys/kernel/config/nvmet/ports/9
cd /sys/kernel/config/nvmet/ports/9
echo ipv4 > addr_adrfam; echo tcp > addr_trtype; echo "$1" > addr_traddr; echo "$2" > addr_trsvcid
echo tls1.3 > addr_tsas
ln -s "/sys/kernel/config/nvmet/subsystems/$3" subsystems/
"""
_CLOSE_PORT = """
cd /sys/kernel/config/nvmet/ports
[ ! -d 9 ] || { rm -f 9/subsystems/*; rmdir 9; }
"""

# The kernel looks for a key of type psk in its keyring .nvme, by the names of both ends. NVMe0: no digest of the key in its
# name; R: a retained key, as is; 01: SHA-256, so 32 bytes.
_ADD_KEY = """
import ctypes, os, sys
libc, ADD_KEY = ctypes.CDLL(None, use_errno=True), 248
with open("/proc/keys") as keys:
    ring = next(int(words[0], 16) for words in map(str.split, keys) if words[7:9] == ["keyring", ".nvme:"])
with open("/etc/nvme/hostnqn") as host:
    name = f"NVMe0R01 {host.read().strip()} {sys.argv[1]}"
if libc.syscall(ADD_KEY, b"psk", name.encode(), bytes(range(32)), ctypes.c_size_t(32), ring) < 0:
    sys.exit(f"add_key {name}: {os.strerror(ctypes.get_errno())}")
"""

# In one write(2), the kernel takes it as a whole.
_CONNECT = """
options="transport=tcp,traddr=$1,trsvcid=$2,nqn=$3,hostnqn=$(cat /etc/nvme/hostnqn),hostid=$(cat /etc/nvme/hostid)"
options+=,keep_alive_tmo=60,tls
for option in "${@:4}"; do options+=,$option; done
printf %s "$options" > /dev/nvme-fabrics
"""


def lacking(lab: Lab) -> str | None:
    """What the bed's kernel lacks for TLS, None when it has all."""
    lab.host.sh("modprobe -a nvme-tcp nvmet-tcp")
    if "tls" not in lab.host.run(["cat", "/dev/nvme-fabrics"]).stdout.strip().split(","):
        return "nvme-tcp has no option tls"
    if lab.target.run(["test", "-e", "/sys/kernel/config/nvmet/ports/1/addr_tsas"]).status != 0:
        return "a port of nvmet has no addr_tsas"
    return None


@contextlib.contextmanager
def handshakes(lab: Lab) -> Iterator[None]:
    """tlshd runs for both ends."""
    lab.host.put(newer.get(*_TLSHD), _PLACE)
    lab.host.write_file(_CONFIGURATION, "[debug]\nloglevel=1\n[authenticate]\nkeyrings=.nvme\n"
                                        "[authenticate.client]\n[authenticate.server]\n")
    try:
        for unit, properties in _UNITS.items():
            lab.host.run(["systemd-run", "--quiet", f"--unit={unit}", "--property=KeyringMode=private", *properties,
                          f"{_PLACE}/tlshd", "--config", _CONFIGURATION], check=True)
        yield
    finally:
        lab.host.sh('for unit; do systemctl stop "$unit" || true; systemctl reset-failed "$unit" 2>/dev/null || true; done',
                    *_UNITS)
        lab.host.run(["rm", "-r", _PLACE])


@contextlib.contextmanager
def port(lab: Lab, nqn: str) -> Iterator[None]:
    """The subsystem has a port that takes connections with TLS only, and host and target share a key for it."""
    try:
        lab.target.sh(_OPEN_PORT, TARGET_ADDRESS, PORT, nqn)
        lab.host.run(["python3", "-c", _ADD_KEY, nqn], check=True)
        yield
    finally:
        lab.target.sh(_CLOSE_PORT)


@contextlib.contextmanager
def connected(lab: Lab, nqn: str, *options: str, namespaces: int = 1) -> Iterator[list[str]]:
    """The host's block devices of a subsystem, connected with TLS and these further options of /dev/nvme-fabrics."""
    try:
        made = lab.host.run(["bash", "-euc", _CONNECT, "bash", TARGET_ADDRESS, PORT, nqn, *options])
        if made.status != 0:
            log = lab.host.run(["journalctl", "--no-pager", "--lines=40", *(f"--unit={unit}" for unit in _UNITS)]).stdout
            raise AssertionError(f"{nqn} cannot be connected with TLS: {made.stderr}{log}")
        yield appeared(lab.host, nqn, namespaces)
    finally:
        lab.host.run(["nvme", "disconnect", "--nqn", nqn])
