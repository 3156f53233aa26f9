# SPDX-License-Identifier: GPL-2.0-or-later
"""The installed service, by the command line a user has."""

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import Iterator
from typing import Any

from bed import Running
from bed.machine import Machine, Result

from .report import Report

START = ("ntprofctl", "session", "start")
KERNEL_UNSUPPORTED = 6
"""Exit status."""


def ctl(machine: Machine, *arguments: str, user: str | None = None, timeout: float = 120) -> Result:
    """Run a verb of ntprofctl."""
    return machine.run(["ntprofctl", *arguments], user=user, timeout=timeout)


class Session:
    """A session that was started detached."""

    def __init__(self, machine: Machine, facts: dict[str, Any]) -> None:
        self._machine = machine
        self.facts = facts
        self.report: Report | None = None

    @property
    def id(self) -> str:
        return str(self.facts["id"])

    def show(self) -> dict[str, Any]:
        return dict(ctl(self._machine, "session", "show", self.id, "--json").check().json())

    def end(self) -> None:
        """The session is kept, for its report."""
        ctl(self._machine, "session", "stop", self.id).check()

    def stop(self) -> Report:
        """End it, read its report, forget it."""
        script = ('ntprofctl session stop "$1" >&2; ntprofctl report "$1" --json; ntprofctl session remove "$1" >&2')
        self.report = Report(self._machine.sh(script, self.id, timeout=300).json())
        return self.report


def start_detached(machine: Machine, namespace: str, sample: str = "all", *options: str, user: str | None = None) -> Session:
    """A session that goes on until it is told to stop."""
    started = machine.run([*START, "--namespace", namespace, "--sample", sample, *options, "--detach", "--json"], user=user,
                          timeout=300)
    return Session(machine, started.check().json())


@contextlib.contextmanager
def session(machine: Machine, namespace: str, sample: str = "all", *options: str, user: str | None = None) -> Iterator[Session]:
    """Record while the block runs; then session.report is there."""
    found = start_detached(machine, namespace, sample, *options, user=user)
    try:
        yield found
    except BaseException:
        ctl(machine, "session", "cancel", found.id)
        raise
    found.stop()


def recorded(session_: Session) -> Report:
    """The report of a session that was recorded."""
    assert session_.report is not None
    return session_.report


def start_attached(machine: Machine, namespace: str, *options: str, user: str | None = None) -> Running:
    """ntprofctl session start, in the background."""
    return machine.start([*START, "--namespace", namespace, *options], user=user)


def wait_recording(machine: Machine, count: int = 1, seconds: int = 60) -> None:
    """Until so many sessions record. Waits in the guest, whose time it is."""
    script = ('for _ in $(seq "$2"); do n=$(ntprofctl session list --json | grep -c "\\"state\\" : \\"recording\\"" || true); '
              '[ "$n" -lt "$1" ] || exit 0; sleep 0.1; done; ntprofctl session list >&2; exit 1')
    machine.sh(script, str(count), str(seconds * 10))


def interrupt(running: Running) -> None:
    """Ctrl-C."""
    running.signal(signal.SIGINT)


def sessions(machine: Machine) -> list[dict[str, Any]]:
    return list(json.loads(ctl(machine, "session", "list", "--json").check().stdout)["sessions"])


def attached_programs(machine: Machine) -> list[dict[str, Any]]:
    """The programs in the kernel that trace it: ntprof's are all there are in a bed."""
    found = machine.run(["bpftool", "prog", "show", "--json"], check=True).json()
    return [program for program in found if program["type"] in ("tracing", "kprobe", "raw_tracepoint")]


def left_attached(machine: Machine, seconds: int = 10) -> list[str]:
    """Programs, links, maps and kprobes that are still there after so long. The kernel frees them a little after the last one who
    held them: time that goes by in the guest."""
    script = """
    for _ in $(seq "$1"); do
      left=$(bpftool prog show | grep -E '^[0-9]+: (tracing|kprobe|raw_tracepoint)' || true
             bpftool link show | grep -wE 'tracing|perf_event|raw_tracepoint' || true
             bpftool map show | grep -wE 'name (live|ring|cpus|queues|arrivals|ntprof_h|ntprof_t)' || true
             cat /sys/kernel/debug/kprobes/list)
      [ -n "$left" ] || exit 0
      sleep 1
    done
    echo "$left"
    """
    return machine.sh(script, str(seconds)).stdout.splitlines()
