# SPDX-License-Identifier: GPL-2.0-or-later
"""One virtual machine: QEMU's command line, its process and its console."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import clock
from .errors import BedError, MachineEnded

_DRIVE_BYTES = 1 << 30
_CPU = "max,erms=off,fsrm=off"
"""TCG runs, and icount counts, "rep movsb" byte by byte; without these flags Linux copies eight bytes at a time."""
_KERNEL_LINE = (
    "console=ttyS0 quiet panic=-1 net.ifnames=0 mitigations=off "
    "tsc=reliable no_timer_check "  # TCG: else the clock is the slow hpet; "MP-BIOS bug: 8254 timer" panics when busy
    "cryptomgr.notests 8250.nr_uarts=1 "  # 3 s of every boot for self-tests of ciphers; devices that are not there
    "nowatchdog rcupdate.rcu_cpu_stall_suppress=1"  # a busy host is no fault of the guest
)


@dataclass(frozen=True)
class Wire:
    """A network card and what it is plugged into."""

    netdev: str
    """A QEMU -netdev value without an id."""
    mac: str


@dataclass(frozen=True)
class Hardware:
    """What a machine is made of."""

    kernel: Path
    initramfs: Path
    image: Path
    machine_id: str
    drive: str
    """"nvme" and "disk" add an emulated drive; "null" needs none."""
    wires: Sequence[Wire]
    memory_mib: int


class Process:
    """The QEMU process of a machine; all it needs is in its folder, so any process can look after it."""

    def __init__(self, folder: Path, name: str, icount: bool = False) -> None:
        self.folder = folder
        self.name = name
        self.icount = icount
        self.agent_socket = folder / "agent.sock"
        self.qmp_socket = folder / "qmp.sock"
        self.console_socket = folder / "console.sock"
        self.console_log = folder / "console.log"
        self.share = folder / "share"
        self._pid_file = folder / "pid"
        self._qemu_log = folder / "qemu.log"

    def _arguments(self, hw: Hardware) -> list[str]:
        line = f"{_KERNEL_LINE} systemd.machine_id={hw.machine_id}"
        if not self.icount:  # with icount the counter is virtual time in ns, and calibration is exact
            line += f" tsc_early_khz={clock.tsc_khz()}"
        arguments = [
            "qemu-system-x86_64", "-name", self.name, "-daemonize", "-pidfile", str(self._pid_file),
            "-D", str(self._qemu_log), "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            # Never thread=multi with several vCPUs: TCG races with the kernel's code patching ("Oops: int3").
            "-machine", "q35", "-accel", "tcg,thread=single", "-cpu", _CPU, "-smp", "1", "-m", f"{hw.memory_mib}M",
            "-kernel", str(hw.kernel), "-initrd", str(hw.initramfs), "-append", line,
            "-chardev", f"socket,id=console,path={self.console_socket},server=on,wait=off,logfile={self.console_log}",
            "-serial", "chardev:console",
            "-qmp", f"unix:{self.qmp_socket},server=on,wait=off",
            "-device", "virtio-serial-pci",
            "-chardev", f"socket,id=agent,path={self.agent_socket},server=on,wait=off",
            "-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0",
            "-device", "virtio-rng-pci",
            "-drive", f"if=none,id=image,file={hw.image},format=raw,readonly=on",
            "-device", "virtio-blk-pci,drive=image",
            "-fsdev", f"local,id=share,path={self.share},security_model=none,multidevs=remap",
            "-device", "virtio-9p-pci,fsdev=share,mount_tag=share",
            "-device", "pcie-root-port,id=socket,chassis=1",  # empty, for a drive by QMP's device_add
        ]
        if self.icount:
            arguments += ["-icount", "shift=2,sleep=off"]
        for number, wire in enumerate(hw.wires):
            kind, _, rest = wire.netdev.partition(",")
            arguments += ["-netdev", f"{kind},id=net{number},{rest}",
                          "-device", f"virtio-net-pci,netdev=net{number},mac={wire.mac},romfile="]
        if hw.drive in ("nvme", "disk"):
            file = self.folder / "drive.img"
            with file.open("wb") as out:
                out.truncate(_DRIVE_BYTES)
            device = {"nvme": "nvme,drive=drive,serial=bed-drive", "disk": "virtio-blk-pci,drive=drive"}[hw.drive]
            arguments += ["-drive", f"if=none,id=drive,file={file},format=raw,cache=unsafe,discard=unmap",
                          "-device", device]
        return arguments

    def start(self, hw: Hardware) -> None:
        """Start QEMU in the background."""
        self.share.mkdir(parents=True, exist_ok=True)
        for stale in (self._pid_file, self.agent_socket, self.qmp_socket, self.console_socket, self.console_log):
            stale.unlink(missing_ok=True)
        arguments = self._arguments(hw)
        (self.folder / "command").write_text("\n".join(arguments) + "\n")
        try:
            done = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        except FileNotFoundError as error:
            raise BedError("qemu-system-x86_64 is not installed: run ./dev build, or apt-get install "
                           "qemu-system-x86") from error
        if done.returncode != 0:
            raise BedError(f"machine {self.name}: QEMU did not start: {done.stderr.strip()}")

    def _open(self) -> int | None:
        """A pidfd of the QEMU process; None when it is gone."""
        with contextlib.suppress(OSError, ValueError):
            pid = int(self._pid_file.read_text())
            pidfd = os.pidfd_open(pid)
            try:  # the number may be another process's by now
                if str(self._pid_file).encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                    return pidfd
            except OSError:
                pass
            os.close(pidfd)
        return None

    @property
    def alive(self) -> bool:
        pidfd = self._open()
        if pidfd is None:
            return False
        try:
            return not select.select([pidfd], [], [], 0)[0]
        finally:
            os.close(pidfd)

    def console_tail(self, lines: int = 60) -> str:
        if not self.console_log.exists():
            return ""
        return "\n".join(self.console_log.read_text(errors="replace").splitlines()[-lines:])

    def check_alive(self) -> None:
        """Raise MachineEnded, with the console's end, when QEMU is gone. (Kernels are told to reboot on a panic, and
        QEMU to end instead of rebooting.)"""
        if not self.alive:
            log = self._qemu_log.read_text(errors="replace").strip() if self._qemu_log.exists() else ""
            raise MachineEnded(f"machine {self.name} has ended; the end of its console:\n{self.console_tail()}"
                               + (f"\nQEMU: {log}" if log else ""))

    def stop(self) -> None:
        """End QEMU: there is nothing in the guest to save."""
        pidfd = self._open()
        if pidfd is None:
            return
        try:
            for number, seconds in ((signal.SIGTERM, 10), (signal.SIGKILL, 10)):
                try:
                    signal.pidfd_send_signal(pidfd, number)
                except ProcessLookupError:
                    return
                if select.select([pidfd], [], [], seconds)[0]:
                    return
        finally:
            os.close(pidfd)
        raise BedError(f"machine {self.name}: QEMU does not end")
