# SPDX-License-Identifier: GPL-2.0-or-later
"""A bed: an NVMe-oF host and its target, booted, connected, with the current build installed."""

from __future__ import annotations

import dataclasses
import json
import shutil
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from . import clock, initramfs, kernels, places, progress, rootfs, staging
from .errors import BedError
from .machine import SHARE, Machine
from .qemu import Hardware, Process

BED_NQN = "nqn.2026-01.org.ntprof:bed"
SLOW_NQN = "nqn.2026-01.org.ntprof:slow"
"""A subsystem whose drive takes 5 ms for every command."""
HOST_ADDRESS = "10.8.0.1"
TARGET_ADDRESS = "10.8.0.2"

_GUEST = Path(__file__).with_name("guest")
_UUIDS = uuid.UUID("6f0d3b2e-5f0c-4b7e-9f7e-0a6d4f8e1c11")
_BOOT_SECONDS = 300.0


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
        for value, known, what in ((self.machines, (1, 2), "machines"), (self.transport, ("tcp", "rdma"), "transport"),
                                   (self.drive, ("null", "nvme", "disk"), "drive")):
            if value not in known:
                raise BedError(f"{what} {value}: one of {', '.join(map(str, known))}")
        if self.icount and self.machines != 1:
            raise BedError("icount works with one machine only: two have two virtual times and no common one")
        if self.target_kernel and self.machines != 2:
            raise BedError("a target kernel of its own needs two machines")


@dataclass(frozen=True)
class _Facts:
    """What became of the wish, kept in the bed's folder."""

    wish: Wish
    releases: dict[str, str]
    since: float
    namespace: str = ""
    installed: bool = False


class Bed:
    """A bed that is up. As a context manager it goes down at the end."""

    def __init__(self, name: str, facts: _Facts) -> None:
        self.name = name
        self.wish = facts.wish
        self.releases = facts.releases
        """Kernel release of each machine."""
        self.since = facts.since
        self.namespace = facts.namespace
        """The host's block device of the main subsystem, e.g. nvme0n1."""
        self.installed = facts.installed
        """Whether a build was installed."""
        self._processes = _processes(name, facts.wish)
        self.host = Machine("host", self._processes["host"], None)
        self.target = (Machine("target", self._processes["target"], None) if facts.wish.machines == 2
                       else Machine("target", self._processes["host"], "tgt"))

    @staticmethod
    def up(kernel: str = "6.1", *, name: str = "default", target_kernel: str | None = None, machines: int = 1,
           transport: str = "tcp", drive: str = "null", icount: bool = False, memory_mib: int = 2048,
           install: bool = True, build: Path | str | None = None) -> Bed:
        """Boot a bed and connect it. Raises BedError, with nothing left behind, when that fails."""
        wish = Wish(kernel, target_kernel, machines, transport, drive, icount, memory_mib, install)
        wish.check()
        with places.lock(name):
            folder = places.folder(name)
            if any(process.alive for process in _processes(name, wish, all_roles=True).values()):
                raise BedError(f"bed {name} is up already; end it with: ./dev bed down --name {name}")
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700)
            try:
                return _Maker(name, wish, Path(build) if build else staging.default_build()).make()
            except BaseException:
                _end(name)
                raise

    @staticmethod
    def find(name: str = "default") -> Bed:
        """The bed of that name, brought up earlier by any process."""
        file = places.folder(name) / "bed.json"
        if not file.exists():
            others = ", ".join(places.names()) or "none"
            raise BedError(f"bed {name} is not up (up: {others}); bring it up with: ./dev bed up --name {name}")
        stored = json.loads(file.read_text())
        try:
            return Bed(name, _Facts(**{**stored, "wish": Wish(**stored["wish"])}))
        except TypeError as error:
            raise BedError(f"bed {name} was brought up by another version of this program; end it with: "
                           f"./dev bed down --name {name}") from error

    @property
    def slow_namespace(self) -> str:
        """The host's block device of the slow subsystem, connected now if it was not yet.

        It is not connected from the start, so that a fresh bed has one fabrics namespace in whatever order one lists
        them (nvme-cli 2.3 lists the newest first).
        """
        return self._connected("slow")

    @property
    def target_address(self) -> str:
        """Where the target listens. (The kernel's RDMA target does so in the initial network namespace only.)"""
        one_rdma = self.wish.transport == "rdma" and self.wish.machines == 1
        return HOST_ADDRESS if one_rdma else TARGET_ADDRESS

    def _connected(self, subsystem: str) -> str:
        wish = self.wish
        return run_script(self.host, "host.sh", wish.transport, self.target_address,
                          str(machine_uuid(self.name, "host")), subsystem).strip()

    @property
    def machines(self) -> list[Machine]:
        """Each virtual machine once."""
        return [self.host] if self.wish.machines == 1 else [self.host, self.target]

    @property
    def alive(self) -> bool:
        return all(process.alive for process in self._processes.values())

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


def machine_uuid(name: str, role: str) -> uuid.UUID:
    """The fixed UUID of a machine of a bed of that name; the host's is its host id as well."""
    return uuid.uuid5(_UUIDS, f"{name}/{role}")


def run_script(machine: Machine, script: str, *arguments: str) -> str:
    """The output of one of guest/'s scripts, run in the machine."""
    return machine.run(["bash", f"{SHARE}/setup/{script}", *arguments], check=True).stdout


def _processes(name: str, wish: Wish, all_roles: bool = False) -> dict[str, Process]:
    folder = places.folder(name)
    roles = ("host", "target") if all_roles or wish.machines == 2 else ("host",)
    return {role: Process(folder / role, f"{name}-{role}") for role in roles}


def _end(name: str) -> bool:
    folder = places.folder(name)
    if not folder.exists():
        return False
    for process in _processes(name, Wish(), all_roles=True).values():
        process.stop()
    shutil.rmtree(folder)
    return True


class _Maker:
    """Brings one bed up, step by step."""

    def __init__(self, name: str, wish: Wish, build: Path) -> None:
        self._name = name
        self._wish = wish
        self._build = build
        self._folder = places.folder(name)
        self._processes = _processes(name, wish)
        self._started = time.time()

    def make(self) -> Bed:
        wish = self._wish
        image = rootfs.image()
        names = {"host": wish.kernel, "target": wish.target_kernel or wish.kernel}
        kernel = {role: kernels.get(names[role]) for role in self._processes}
        files = {role: initramfs.get(kernel[role]) for role in kernel}
        releases = {role: kernel[role].release for role in kernel}
        archive = self._pack()

        # The target first: its end of the wire listens.
        order = [role for role in ("target", "host") if role in self._processes]
        for role in order:
            hardware = Hardware(kernel[role].vmlinuz, files[role], image, machine_uuid(self._name, role).hex, wish.icount,
                                self._drive(role), self._wire(role), f"52:54:00:10:08:{1 + (role == 'target'):02x}",
                                wish.memory_mib)
            self._start(role, hardware, archive)
        for role in order:
            self._wait_running(role)

        facts = _Facts(wish, releases, self._started, installed=archive is not None)
        bed = Bed(self._name, facts)
        for role in order:
            self._prepare(Machine(role, self._processes[role], None), archive)
        self._export(bed)
        facts = dataclasses.replace(facts, namespace=bed._connected("bed"))
        (self._folder / "bed.json").write_text(json.dumps(dataclasses.asdict(facts)))
        progress.say(f"bed {self._name} is up: {facts.namespace} over {wish.transport}")
        return Bed(self._name, facts)

    def _drive(self, role: str) -> str:
        return self._wish.drive if role == "target" or self._wish.machines == 1 else "null"

    def _wire(self, role: str) -> str | None:
        if self._wish.machines == 1:
            return None
        server = "on" if role == "target" else "off"
        return f"stream,id=net,server={server},addr.type=unix,addr.path={self._folder}/wire.sock"

    def _pack(self) -> Path | None:
        if not self._wish.install:
            return None
        archive = self._folder / "build.tar"
        if staging.pack(self._build, archive):
            progress.say(f"build: {self._build} will be installed")
            return archive
        progress.say(f"build: nothing to install in {self._build}; booting without it")
        return None

    def _start(self, role: str, hardware: Hardware, archive: Path | None) -> None:
        process = self._processes[role]
        scripts = process.share / "setup"
        shutil.copytree(_GUEST, scripts, dirs_exist_ok=True)
        if archive:
            shutil.copy(archive, scripts / "build.tar")
        process.start(hardware)
        progress.say(f"machine {role}: started")
        for attempt in (1, 2):
            if self._wish.icount:
                return  # its clock is not the host's
            first = self._read_clock(role)
            time.sleep(2)
            second = self._read_clock(role)
            if clock.is_sane(first, second):
                return
            progress.say(f"machine {role}: its clock made {second.uptime - first.uptime:.1f} s of "
                         f"{second.before - first.before:.1f} s")
            process.stop()
            if attempt == 2:
                raise BedError(f"machine {role}: its clock was wrong in two boots")
            process.start(hardware)

    def _read_clock(self, role: str) -> clock.Reading:
        machine = Machine(role, self._processes[role], None)
        machine.agent.wait(_BOOT_SECONDS)
        before = time.monotonic()
        uptime = machine.read_file("/proc/uptime")
        return clock.Reading(before, time.monotonic(), float(uptime.split()[0]))

    def _wait_running(self, role: str) -> None:
        machine = Machine(role, self._processes[role], None)
        machine.agent.wait(_BOOT_SECONDS)
        state = machine.run(["systemctl", "is-system-running", "--wait"], timeout=_BOOT_SECONDS).stdout.strip()
        if state != "running":
            failed = machine.run(["systemctl", "list-units", "--failed", "--plain", "--no-legend"]).stdout
            raise BedError(f"machine {role}: systemd is {state}, not running; failed units:\n{failed}")
        progress.say(f"machine {role}: systemd is running")

    def _prepare(self, machine: Machine, archive: Path | None) -> None:
        machine.sh(f"mkdir -p {SHARE}; mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=none "
                   f"share {SHARE}")
        run_script(machine, "network.sh", "both" if self._wish.machines == 1 else machine.role)
        if archive:
            run_script(machine, "install.sh", f"{SHARE}/setup/build.tar")

    def _export(self, bed: Bed) -> None:
        wish = self._wish
        if wish.transport == "rdma":
            for machine in bed.machines:
                interface = "vt" if machine.role == "target" else "vh"
                machine.sh(f"modprobe rdma_rxe; rdma link add rxe0 type rxe netdev {interface}")
        one_rdma = wish.transport == "rdma" and wish.machines == 1
        run_script(bed.host if one_rdma else bed.target, "target.sh", wish.transport, bed.target_address, wish.drive)
