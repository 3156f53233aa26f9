# SPDX-License-Identifier: GPL-2.0-or-later
"""What a bed is asked to be, what became of it, and how its machines are laid out."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from . import places
from .errors import BedError
from .machine import SHARE, Machine
from .qemu import Process

HOST_ADDRESS = "10.8.0.1"
TARGET_ADDRESS = "10.8.0.2"
TARGET2_ADDRESS = "10.9.0.2"
ROLES = ("host", "target", "target2")
"""All virtual machines that a bed can have."""

_TARGET_NETWORK_NAMESPACE = "tgt"
_UUIDS = uuid.UUID("6f0d3b2e-5f0c-4b7e-9f7e-0a6d4f8e1c11")


@dataclass(frozen=True)
class Wish:
    """What a bed is to be."""

    kernel: str = "6.1"
    target_kernel: str | None = None
    machines: int = 1
    transport: str = "tcp"
    drive: str = "null"
    icount: bool = False
    memory_mib: int = 2048
    install: bool = True

    def check(self) -> None:
        for value, known, what in ((self.machines, (1, 2, 3), "machines"), (self.transport, ("tcp", "rdma"), "transport"),
                                   (self.drive, ("null", "nvme", "disk"), "drive")):
            if value not in known:
                raise BedError(f"{what} {value}: not one of {', '.join(map(str, known))}")
        if self.icount and self.machines != 1:
            raise BedError("icount works with one machine only: two have two virtual times and no common one")
        if self.target_kernel and self.machines == 1:
            raise BedError("a target kernel of its own needs two machines")
        if self.transport != "tcp" and self.machines == 3:
            raise BedError(f"three machines are connected over tcp only, not over {self.transport}")

    @property
    def roles(self) -> list[str]:
        """The virtual machines. With one, "host" is the target's too."""
        return list(ROLES[:self.machines])

    def kernel_of(self, role: str) -> str:
        """The second target has the host's, so that two targets can differ."""
        return self.target_kernel or self.kernel if role == "target" else self.kernel

    @property
    def target_address(self) -> str:
        """Where the target listens; RDMA's does so in the initial network namespace only, whatever made it."""
        return HOST_ADDRESS if self.machines == 1 and self.transport == "rdma" else TARGET_ADDRESS

    def addresses_of(self, subsystem: str) -> list[str]:
        """Where the targets export a subsystem of that short name."""
        of_target2 = {"other": [TARGET2_ADDRESS], "both": [self.target_address, TARGET2_ADDRESS]}
        if self.machines < 3 and subsystem in of_target2:
            raise BedError(f"subsystem {subsystem} needs three machines")
        return of_target2.get(subsystem, [self.target_address])


@dataclass(frozen=True)
class Facts:
    """What became of a wish."""

    wish: Wish
    releases: dict[str, str]
    """Kernel release of each virtual machine."""
    since: float
    installed: bool
    namespace: str


def process(name: str, role: str, wish: Wish) -> Process:
    """The QEMU process of one virtual machine of a bed."""
    return Process(places.folder(name) / role, f"{name}-{role}", wish.icount)


def host(name: str, wish: Wish) -> Machine:
    return Machine("host", process(name, "host", wish), None)


def target(name: str, wish: Wish) -> Machine:
    if wish.machines == 1:
        return Machine("target", process(name, "host", wish), _TARGET_NETWORK_NAMESPACE)
    return Machine("target", process(name, "target", wish), None)


def target2(name: str, wish: Wish) -> Machine:
    if wish.machines < 3:
        raise BedError(f"bed {name} has no second target: it needs three machines")
    return Machine("target2", process(name, "target2", wish), None)


def machine_uuid(name: str, role: str) -> uuid.UUID:
    """The fixed UUID of a machine of a bed of that name; the host's is its host id as well."""
    return uuid.uuid5(_UUIDS, f"{name}/{role}")


def run_script(machine: Machine, script: str, *arguments: str) -> str:
    """The output of one of guest/'s scripts, run in the machine."""
    return machine.run(["bash", f"{SHARE}/setup/{script}", *arguments], check=True).stdout


def connect(name: str, wish: Wish, subsystem: str) -> str:
    """Connect the host to a subsystem of the targets ("bed", "slow"; with three machines also "other" and "both"), unless
    it is, and return its block device."""
    return run_script(host(name, wish), "host.sh", wish.transport, str(machine_uuid(name, "host")), subsystem,
                      *wish.addresses_of(subsystem)).strip()
