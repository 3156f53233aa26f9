# SPDX-License-Identifier: GPL-2.0-or-later
"""A bed: an NVMe-oF host and its target, booted, connected, with the current build installed."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import layout, places, staging
from .boot import boot, reset
from .errors import BedError
from .layout import Facts, Wish
from .machine import Machine

BED_NQN = "nqn.2026-01.org.ntprof:bed"
SLOW_NQN = "nqn.2026-01.org.ntprof:slow"
"""A subsystem whose drive takes 5 ms for every command."""
OTHER_NQN = "nqn.2026-01.org.ntprof:other"
"""The second target's own."""
BOTH_NQN = "nqn.2026-01.org.ntprof:both"
"""A subsystem of both targets: its namespace has a path to each."""


class Bed:
    """A bed that is up. As a context manager it goes down at the end."""

    def __init__(self, name: str, facts: Facts) -> None:
        self.name = name
        self.facts = facts
        self.host = layout.host(name, facts.wish)
        self.target = layout.target(name, facts.wish)
        """With one virtual machine this is the host's, in the target's network namespace."""

    @staticmethod
    def up(kernel: str = "6.1", *, name: str = "default", target_kernel: str | None = None, machines: int = 1,
           transport: str = "tcp", drive: str = "null", icount: bool = False, memory_mib: int = 2048,
           install: bool = True, build: Path | str | None = None) -> Bed:
        """Boot a bed and connect it. Raises BedError, with nothing left behind, when that fails."""
        wish = Wish(kernel, target_kernel, machines, transport, drive, icount, memory_mib, install)
        wish.check()
        with places.lock(name):
            folder = places.folder(name)
            if any(layout.process(name, role, wish).alive for role in layout.ROLES):
                raise BedError(f"bed {name} is up already; end it with: ./dev bed down --name {name}")
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700)
            try:
                facts = boot(name, wish, Path(build) if build else staging.default_build())
                (folder / "bed.json").write_text(json.dumps(dataclasses.asdict(facts)))
            except BaseException:
                _end(name)
                raise
        return Bed(name, facts)

    @staticmethod
    def find(name: str = "default") -> Bed:
        """The bed of that name, brought up earlier by any process."""
        file = places.folder(name) / "bed.json"
        if not file.exists():
            others = ", ".join(places.names()) or "none"
            raise BedError(f"bed {name} is not up (beds: {others}); bring it up with: ./dev bed up --name {name}")
        stored: dict[str, Any] = json.loads(file.read_text())
        try:
            wish = Wish(**stored.pop("wish"))
            facts = Facts(wish, **stored)
        except TypeError as error:
            raise BedError(f"bed {name} was brought up by another version of this program; end it with: "
                           f"./dev bed down --name {name}") from error
        return Bed(name, facts)

    @property
    def namespace(self) -> str:
        """The host's block device of the main subsystem, e.g. nvme0n1."""
        return self.facts.namespace

    @property
    def slow_namespace(self) -> str:
        """The host's block device of the slow subsystem, connected now if it was not yet.

        It is not connected from the start, so that a fresh bed has one fabrics namespace, in whatever order one lists
        them (nvme-cli 2.3 lists the newest first).
        """
        return self.connect("slow")

    def connect(self, subsystem: str) -> str:
        """The host's block device of "bed", "slow", "other" or "both" (the latter two with three machines), connected now if
        it was not yet."""
        return layout.connect(self.name, self.facts.wish, subsystem)

    @property
    def target2(self) -> Machine:
        """The second target of three machines."""
        return layout.target2(self.name, self.facts.wish)

    @property
    def virtual_machines(self) -> list[Machine]:
        """Each virtual machine once."""
        machines = {"host": layout.host, "target": layout.target, "target2": layout.target2}
        return [machines[role](self.name, self.facts.wish) for role in self.facts.wish.roles]

    def reset(self, role: str, keep: Sequence[str] = ()) -> None:
        """Cut a target's power, and make it ready again as at first. A machine's root is in memory: files and folders in keep
        are put back, as a disk would have kept them."""
        reset(self.name, self.facts.wish, role, self.facts.installed, keep)

    @property
    def alive(self) -> bool:
        return all(machine.process.alive for machine in self.virtual_machines)

    def down(self) -> None:
        """End it; nothing of it stays."""
        down(self.name)

    def __enter__(self) -> Bed:
        return self

    def __exit__(self, *_: object) -> None:
        self.down()


def down(name: str) -> bool:
    """End the bed of that name, also a broken one; False when there was none."""
    with places.lock(name):
        return _end(name)


def abandon(name: str) -> bool:
    """As down(), also while a thread of this very program brings it up, which is about to end."""
    return _end(name)


def _end(name: str) -> bool:
    folder = places.folder(name)
    if not folder.exists():
        return False
    for role in layout.ROLES:
        layout.process(name, role, Wish()).stop()
    shutil.rmtree(folder)
    return True
