# SPDX-License-Identifier: GPL-2.0-or-later
"""What ntprofd may do: by /proc, by its property, and what its unit is told to leave it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from bed.machine import Machine

# Numbers of include/uapi/linux/capability.h
CAPABILITIES = {"CAP_SYS_ADMIN": 21, "CAP_PERFMON": 38, "CAP_BPF": 39}
_DROP_IN = "/run/systemd/system/ntprofd.service.d/privileges.conf"
_WATCH = r"""
import glob, json, os, sys, time

pid, stop = sys.argv[1:]
seen = {"main": 0, "others": 0}
while not os.path.exists(stop):
    for path in glob.glob(f"/proc/{pid}/task/*/status"):
        try:
            text = open(path).read()
        except (FileNotFoundError, ProcessLookupError):
            continue
        mask = int(text.split("\nCapEff:\t")[1].split("\n")[0], 16)
        seen["main" if path.split("/")[4] == pid else "others"] |= mask
    time.sleep(0.005)
os.unlink(stop)
print(json.dumps(seen))
"""


def names(mask: str | int) -> list[str]:
    """Of a line of /proc/PID/status, sorted."""
    known = {bit: name for name, bit in CAPABILITIES.items()}
    number = int(mask, 16) if isinstance(mask, str) else mask
    return sorted(known.get(bit, f"capability {bit}") for bit in range(64) if number >> bit & 1)


def status(machine: Machine) -> dict[str, str]:
    """/proc/PID/status of ntprofd, which runs."""
    text = machine.sh('cat "/proc/$(pgrep -x ntprofd)/status"').stdout
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def told(machine: Machine) -> dict[str, list[str]]:
    """Manager.Privileges, its lists sorted."""
    text = machine.run(["busctl", "--json=short", "get-property", "org.ntprof1", "/org/ntprof1", "org.ntprof1.Manager",
                        "Privileges"], check=True).stdout
    return {which: sorted(found) for which, found in json.loads(text)["data"].items()}


@dataclass
class Seen:
    """All capabilities that were effective on a thread of ntprofd at some time, by the thread."""

    main: list[str]
    others: list[str]


@contextlib.contextmanager
def watch(machine: Machine) -> Iterator[Seen]:
    """While the block runs; what was seen is there after it."""
    stop = machine.sh("mktemp --dry-run /run/stop-XXXXXX").stdout.strip()
    pid = machine.run(["pgrep", "-x", "ntprofd"], check=True).stdout.strip()
    seen = Seen([], [])
    watching = machine.start(["/usr/bin/python3", "-c", _WATCH, pid, stop])
    try:
        yield seen
    finally:
        machine.run(["touch", stop])
        found = watching.wait(60).check().json()
    seen.main, seen.others = names(found["main"]), names(found["others"])


@contextlib.contextmanager
def limited_to(machine: Machine, *capabilities: str) -> Iterator[None]:
    """As an administrator who takes the others away by `systemctl edit ntprofd` would have it."""
    allowed = " ".join(capabilities)
    text = f"[Service]\nCapabilityBoundingSet=\nCapabilityBoundingSet={allowed}\nAmbientCapabilities=\nAmbientCapabilities={allowed}\n"
    machine.sh('mkdir -p "$(dirname "$1")"; printf %s "$2" > "$1"; systemctl stop ntprofd; systemctl daemon-reload', _DROP_IN, text)
    try:
        yield
    finally:
        machine.sh('rm "$1"; systemctl stop ntprofd; systemctl daemon-reload', _DROP_IN)


@contextlib.contextmanager
def setting(machine: Machine, name: str, value: str) -> Iterator[None]:
    """Of sysctl."""
    before = machine.run(["sysctl", "-n", name], check=True).stdout.strip()
    machine.run(["sysctl", "-qw", f"{name}={value}"], check=True)
    try:
        yield
    finally:
        machine.run(["sysctl", "-qw", f"{name}={before}"], check=True)
