# SPDX-License-Identifier: GPL-2.0-or-later
"""ntprofctl as a person runs it, against the real ntprofd on a private bus (tests/bus/service.py)."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Iterator

import make_replay
from service import PATIENCE, Service, private_bus, wait_until

NTPROFCTL = os.environ.get("NTPROFCTL", "build/client/ntprofctl/ntprofctl")

# Exit statuses, as of ntprofctl --help
USAGE, NO_SUCH_NAMESPACE, SESSION_BUSY, NO_REPORT, ACCESS_DENIED, NO_SUCH_SESSION, SHUTTING_DOWN = 2, 3, 8, 9, 11, 12, 13
NO_PEER, PEER_UNREACHABLE, INVITATION_INVALID, PEER_EXISTS = 14, 15, 18, 19
NO_SERVICE, SERVICE_GONE, SESSION_CANCELLED, INTERRUPTED = 20, 21, 24, 130


def environment(address: str | None, **more: str) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM", "DBUS_SYSTEM_BUS_ADDRESS", "COLUMNS")}
    given = {"DBUS_SYSTEM_BUS_ADDRESS": address} if address else {}
    return {**inherited, **given, "LC_ALL": "C.UTF-8", "TERM": "xterm", **more}


def popen(address: str | None, *arguments: str, env: dict[str, str] | None = None, **how: object) -> subprocess.Popen:
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, "text": True, **how}
    return subprocess.Popen([NTPROFCTL, *arguments], env=env or environment(address), **how)


def run(service: Service | None, *arguments: str, status: int | None = 0, **how: object) -> subprocess.CompletedProcess:
    process = popen(service.address if service else None, *arguments, **how)
    return finish(process, status)


def finish(process: subprocess.Popen, status: int | None = 0) -> subprocess.CompletedProcess:
    """Wait for the end; its output has been taken by nobody yet."""
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    result = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    if status is not None:
        assert result.returncode == status, f"{process.args[1:]} ended with {result.returncode}, not {status}:\n{out}\n{err}"
    return result


def attached(service: Service, *options: str, **how: object) -> subprocess.Popen:
    """`session start`, returned when it records and ntprofctl knows."""
    process = popen(service.address, "session", "start", "--namespace", "nvme6n1", "--sample", "all", *options, **how)
    client = service.client()
    read_line(process, ": recording nvme6n1")
    wait_until(lambda: any(s["Commands"] > 0 for s in client.sessions().values()), "commands")
    return process


def interrupt(process: subprocess.Popen, number: int = signal.SIGINT) -> None:
    process.send_signal(number)


def read_line(process: subprocess.Popen, words: str) -> str:
    """Read standard error up to a line with words in it."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        line = process.stderr.readline()
        if words in line:
            return line
        if not line:
            break
    raise AssertionError(f"standard error ended without: {words}")


class Terminal:
    """A terminal of 80 columns that keeps all that was written to it."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        import fcntl
        import struct
        import termios

        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.text = b""

    def read_while(self, process: subprocess.Popen) -> str:
        if self.slave >= 0:
            os.close(self.slave)
            self.slave = -1
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            ready, _, _ = select.select([self.master], [], [], 0.1)
            if not ready:
                if process.poll() is not None:
                    break
                continue
            try:
                data = os.read(self.master, 65536)
            except OSError:     # EIO: the other end is closed
                break
            if not data:
                break
            self.text += data
        process.wait(PATIENCE)
        os.close(self.master)
        return self.text.decode()


@contextlib.contextmanager
def short(recording: make_replay.Recording | None = None) -> Iterator[Service]:
    """A daemon whose sessions last 0.1 s."""
    with private_bus() as service:
        service.start(recording)
        yield service


@contextlib.contextmanager
def long() -> Iterator[Service]:
    """A daemon whose recording lasts longer than any test."""
    with private_bus() as service:
        service.start(make_replay.recording(seconds=300, rate=50), speed=1)
        yield service


@contextlib.contextmanager
def bus_only() -> Iterator[Service]:
    with private_bus() as service:
        yield service


