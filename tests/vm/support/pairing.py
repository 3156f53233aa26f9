# SPDX-License-Identifier: GPL-2.0-or-later
"""Two machines made peers, by the commands that the README gives."""

from __future__ import annotations

import re

from bed.machine import Machine

SOCKET = "ntprof-peerd.socket"
ETC = "/etc/ntprof/peers.d"
STATE = "/var/lib/ntprof-peer"

_LINE = re.compile(r"ntprof:\S+:4425:sha256-[0-9a-f]{64}:\S+")


def host_nqn(machine: Machine) -> str:
    return machine.read_file("/etc/nvme/hostnqn").decode().strip()


def listen(target: Machine) -> None:
    """Nothing of ntprof-peerd's is enabled by itself."""
    target.run(["systemctl", "enable", "--now", "--quiet", SOCKET], check=True)


def line_in(text: str) -> str:
    """The line in what invite printed."""
    found = _LINE.search(text)
    assert found, f"ntprofctl peer invite printed no line: {text!r}"
    return found.group()


def invitation(target: Machine, nqn: str, name: str = "host") -> list[str]:
    """The command that invites the host of that NQN. A target has no default route, so it must be told its own address."""
    shown = target.run(["ip", "-json", "-4", "address", "show", "dev", "vt"], check=True).json()
    address = shown[0]["addr_info"][0]["local"]
    return ["ntprofctl", "peer", "invite", "--name", name, "--host-nqn", nqn, "--address", address]


def invite(target: Machine, nqn: str, name: str = "host") -> str:
    """The line that invites the host of that NQN."""
    return line_in(target.run(invitation(target, nqn, name), check=True).stdout)


def join(host: Machine, line: str) -> str:
    """What the host is told."""
    return host.run(["ntprofctl", "peer", "join", line], check=True).stdout


def pair(host: Machine, target: Machine) -> str:
    """The line that it was done by."""
    listen(target)
    line = invite(target, host_nqn(host))
    join(host, line)
    return line


def fingerprint(machine: Machine) -> str:
    """Of the machine's own certificate."""
    shown = machine.run(["busctl", "get-property", "org.ntprof1.Peers", "/org/ntprof1", "org.ntprof1.PeerManager",
                         "Fingerprint"], check=True).stdout
    return shown.split()[1].strip('"')
