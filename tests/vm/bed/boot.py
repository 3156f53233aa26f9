# SPDX-License-Identifier: GPL-2.0-or-later
"""Bring a bed up: start its machines, install the build, export the drives, connect."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from . import clock, initramfs, kernels, layout, places, progress, rootfs, staging
from .agent import AgentSilent
from .awake import Awake
from .errors import BedError
from .layout import Facts, Wish
from .machine import SHARE, Machine
from .qemu import Hardware, Wire

_GUEST = Path(__file__).with_name("guest")
_BOOT_SECONDS = 300.0
_HEARTBEAT = 15.0


def boot(name: str, wish: Wish, build: Path) -> Facts:
    """Bring up the bed of that name, whose folder is there and empty."""
    return _Boot(name, wish).run(build)


def reset(name: str, wish: Wish, role: str, install: bool, keep: Sequence[str]) -> None:
    """Cut the power of a machine of a bed that is up, and make it ready again."""
    if role not in wish.roles[1:]:
        raise BedError(f"bed {name} has no machine {role} that is a target alone")
    _Boot(name, wish).reset(role, install, keep)


class _Boot:
    def __init__(self, name: str, wish: Wish) -> None:
        self._name = name
        self._wish = wish
        self._folder = places.folder(name)
        self._processes = {role: layout.process(name, role, wish) for role in wish.roles}
        self._machines = {role: Machine(role, process, None) for role, process in self._processes.items()}
        # The targets first: their ends of the wires listen.
        self._order = sorted(wish.roles, reverse=True)

    def run(self, build: Path) -> Facts:
        since = time.time()
        wish = self._wish
        image = rootfs.image()
        kernel = {role: kernels.get(wish.kernel_of(role)) for role in wish.roles}
        archive = self._pack(build)
        hardware = {role: self._hardware(role, kernel[role], image) for role in self._order}
        for role in self._order:
            self._fill_share(role, archive)

        self._start(hardware)
        with contextlib.ExitStack() as running:
            for process in self._processes.values():
                running.enter_context(Awake(process))
            for role in self._order:
                self.wait_running(role)
            for role in self._order:
                self.prepare(role, archive is not None)
            self.export()
            namespace = layout.connect(self._name, wish, "bed")
        progress.say(f"bed {self._name} is up: {namespace} over {wish.transport}")
        return Facts(wish, {role: found.release for role, found in kernel.items()}, since, archive is not None,
                     namespace)

    def _pack(self, build: Path) -> Path | None:
        if not self._wish.install:
            return None
        archive = self._folder / "build.tar"
        if staging.pack(build, archive):
            progress.say(f"build: {build} will be installed")
            return archive
        progress.say(f"build: nothing to install in {build}; booting without it")
        return None

    def _hardware(self, role: str, kernel: kernels.Kernel, image: Path) -> Hardware:
        wish = self._wish
        has_drive = role == "target" or wish.machines == 1
        return Hardware(kernel.vmlinuz, initramfs.get(kernel), image, layout.machine_uuid(self._name, role).hex,
                        wish.drive if has_drive else "null", self._wires(role), wish.memory_mib)

    def _wires(self, role: str) -> list[Wire]:
        """A wire from the host to each target, whose end listens."""
        targets = self._wish.roles[1:]
        ends = targets if role == "host" else [role]
        return [Wire(f"stream,server={'off' if role == 'host' else 'on'},addr.type=unix,addr.path={self._folder}/{end}.sock",
                     f"52:54:00:10:{8 + targets.index(end):02x}:{1 if role == 'host' else 2:02x}")
                for end in ends if end in targets]

    def _fill_share(self, role: str, archive: Path | None) -> None:
        scripts = self._processes[role].share / "setup"
        shutil.copytree(_GUEST, scripts)
        if archive:
            shutil.copy(archive, scripts / "build.tar")

    def _start(self, hardware: dict[str, Hardware]) -> None:
        """Start the machines; all of them once more if one's clock goes wrong."""
        for _ in range(2):
            for role, parts in hardware.items():
                self._processes[role].start(parts)
                progress.say(f"machine {role}: started")
            wrong = [role for role in hardware if not self._clock_is_sane(role)]
            if not wrong:
                return
            for process in self._processes.values():
                process.stop()
        raise BedError(f"machine {', '.join(wrong)}: the clock was wrong in two boots")

    def _wait_agent(self, role: str) -> None:
        end = time.monotonic() + _BOOT_SECONDS
        while True:
            try:
                self._machines[role].agent.wait(_HEARTBEAT)
                return
            except AgentSilent:
                if time.monotonic() > end:
                    raise BedError(f"machine {role}: not up after {_BOOT_SECONDS:.0f} s; the end of its console:\n"
                                   f"{self._processes[role].console_tail()}") from None
                progress.say(f"machine {role}: booting")

    def _clock_is_sane(self, role: str) -> bool:
        self._wait_agent(role)
        if self._wish.icount:
            return True  # its seconds are not the host's
        first = self._read_clock(role)
        time.sleep(1.5)
        second = self._read_clock(role)
        sane = clock.is_sane(first, second)
        if not sane:
            progress.say(f"machine {role}: its clock made {second.uptime - first.uptime:.2f} s of "
                         f"{second.before - first.before:.2f} s")
        return sane

    def _read_clock(self, role: str) -> clock.Reading:
        before = time.monotonic()
        uptime = self._machines[role].read_file("/proc/uptime")
        return clock.Reading(before, time.monotonic(), float(uptime.split()[0]))

    def wait_running(self, role: str) -> None:
        machine = self._machines[role]
        state = machine.run(["systemctl", "is-system-running", "--wait"], timeout=_BOOT_SECONDS).stdout.strip()
        if state != "running":
            failed = machine.run(["systemctl", "list-units", "--failed", "--plain", "--no-legend"]).stdout
            raise BedError(f"machine {role}: systemd is {state}, not running; failed units:\n{failed}")
        progress.say(f"machine {role}: systemd is running")

    def prepare(self, role: str, install: bool) -> None:
        machine = self._machines[role]
        machine.sh(f"mkdir -p {SHARE}; mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=none "
                   f"share {SHARE}")
        layout.run_script(machine, "network.sh", "both" if self._wish.machines == 1 else role)
        if install:
            layout.run_script(machine, "install.sh", f"{SHARE}/setup/build.tar")
            progress.say(f"machine {role}: build installed")
        if self._wish.transport == "rdma":
            interface = "vt" if role == "target" else "vh"
            machine.sh(f"modprobe rdma_rxe; rdma link add rxe0 type rxe netdev {interface}")

    def export(self, only: str | None = None) -> None:
        """Export the drives of all targets, or of one."""
        wish = self._wish
        # The TCP target listens in the network namespace of who makes it.
        machines = {"target": layout.target(self._name, wish) if wish.transport == "tcp" else self._machines[self._order[0]]}
        if wish.machines == 3:
            machines["target2"] = self._machines["target2"]
        addresses = {"target": wish.target_address, "target2": layout.TARGET2_ADDRESS}
        for role, machine in machines.items():
            if only in (None, role):
                layout.run_script(machine, "target.sh", wish.transport, addresses[role],
                                  wish.drive if role == "target" else "null", role, str(wish.machines))

    def reset(self, role: str, install: bool, keep: Sequence[str]) -> None:
        machine = self._machines[role]
        kept = f"{SHARE}/kept.tar"
        machine.sh('tar --create --file="$1" --absolute-names --ignore-failed-read -- "${@:2}"; '
                   'sync', kept, *keep or [SHARE + "/setup"])
        # Else QEMU ends at a reset, which is how a panic is noticed. The firmware makes another one of its own.
        machine.qmp("set-action", reboot="reset")
        machine.qmp("system_reset")
        self._wait_agent(role)
        machine.qmp("set-action", reboot="shutdown")
        self.wait_running(role)
        self.prepare(role, install)
        machine.sh('tar --extract --file="$1" --absolute-names --preserve-permissions --same-owner', kept)
        self.export(role)
