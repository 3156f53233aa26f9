# SPDX-License-Identifier: GPL-2.0-or-later
"""The host or the target of a bed: run commands there, and exchange files with it."""

from __future__ import annotations

import json
import os
import shutil
import signal as signals
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import qmp
from .agent import Agent, Ended, Pending
from .awake import Awake
from .errors import BedError, CommandTimeout
from .qemu import Process

SHARE = "/mnt/bed"
"""Where a guest sees its machine's share folder (9p)."""

_ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LC_ALL": "C.UTF-8",
    "TERM": "dumb",
}


class CommandFailed(BedError):
    """A command that was to succeed did not."""


@dataclass(frozen=True)
class Result:
    """A command that ended; status is 128 + N when signal N ended it."""

    argv: tuple[str, ...]
    status: int
    stdout_bytes: bytes
    stderr_bytes: bytes

    @property
    def stdout(self) -> str:
        return self.stdout_bytes.decode(errors="replace")

    @property
    def stderr(self) -> str:
        return self.stderr_bytes.decode(errors="replace")

    def json(self) -> Any:
        """stdout, parsed as JSON."""
        return json.loads(self.stdout_bytes)

    def check(self) -> Result:
        """Itself, if the status is 0; else CommandFailed."""
        if self.status != 0:
            raise CommandFailed(f"{' '.join(self.argv)}: status {self.status}\n{self.stdout}{self.stderr}")
        return self


class Running:
    """A command in the background. A machine with icount runs as long as one has not been seen to end."""

    def __init__(self, machine: Machine, argv: tuple[str, ...], pending: Pending, awake: Awake) -> None:
        self.argv = argv
        self._machine = machine
        self._pending = pending
        self._awake = awake

    @property
    def pid(self) -> int:
        """The process id in the guest, which is its session's and process group's as well."""
        return self._pending.pid

    def _result(self, ended: Ended) -> Result:
        self._awake.release()
        if ended.truncated:
            raise BedError(f"{' '.join(self.argv)}: more than 16 MiB of output; write it to a file and get that")
        return Result(self.argv, ended.status, ended.stdout, ended.stderr)

    def poll(self) -> Result | None:
        """How it ended, None while it runs."""
        ended = self._pending.poll()
        return self._result(ended) if ended else None

    def signal(self, number: int = signals.SIGTERM) -> None:
        """Signal the command and all that is still in its process group."""
        self._machine.signal_group(self.pid, number)

    def wait(self, timeout: float = 600) -> Result:
        """How it ended; killed after timeout seconds of the host's time, then CommandTimeout."""
        ended = self._pending.wait(timeout)
        if ended is None:
            self.kill()
            raise CommandTimeout(f"{' '.join(self.argv)}: still running after {timeout:g} s, killed")
        return self._result(ended)

    def kill(self) -> Result | None:
        """End it for sure; None when it does not even die of SIGKILL (blocked I/O)."""
        for number, seconds in ((signals.SIGTERM, 5), (signals.SIGKILL, 10)):
            self.signal(number)
            ended = self._pending.wait(seconds)
            if ended:
                return self._result(ended)
        return None


class Machine:
    """One side of a bed. With one virtual machine the target is a network namespace of it."""

    def __init__(self, role: str, process: Process, network_namespace: str | None) -> None:
        self.role = role
        self.process = process
        self._agent = Agent(process.agent_socket, process.check_alive)
        self._prefix = ["nsenter", f"--net=/run/netns/{network_namespace}", "--"] if network_namespace else []

    @property
    def agent(self) -> Agent:
        return self._agent

    def start(self, argv: Sequence[str], *, user: str | None = None, env: Mapping[str, str] | None = None,
              stdin: bytes | str | None = None) -> Running:
        """Start a command in the background, exactly these arguments, in a session of its own."""
        command = list(self._prefix)
        if user:
            command += ["runuser", "-u", user, "--"]
        command += argv
        home = {"HOME": f"/home/{user}", "USER": user, "LOGNAME": user} if user else {}
        environment = {**_ENVIRONMENT, **home, **(env or {})}
        data = stdin.encode() if isinstance(stdin, str) else stdin
        # env finds the command by the PATH given here; setsid makes what it starts killable as a group.
        awake = Awake(self.process)
        try:
            pending = self._agent.spawn("/usr/bin/setsid", ["/usr/bin/env", "--", *command], environment, data)
        except BaseException:
            awake.release()
            raise
        return Running(self, tuple(argv), pending, awake)

    def run(self, argv: Sequence[str], *, timeout: float = 600, user: str | None = None,
            env: Mapping[str, str] | None = None, stdin: bytes | str | None = None, check: bool = False) -> Result:
        """Run a command and return its output and exit status (127: not found).

        timeout is in seconds of this machine's clock. With check, a status other than 0 raises CommandFailed.
        """
        running = self.start(argv, user=user, env=env, stdin=stdin)
        try:
            result = running.wait(timeout)
        except KeyboardInterrupt:
            running.kill()
            raise
        return result.check() if check else result

    def sh(self, script: str, *arguments: str, timeout: float = 600, check: bool = True) -> Result:
        """Run a bash script (-e, -u, pipefail) with arguments."""
        return self.run(["bash", "-euo", "pipefail", "-c", script, "bash", *arguments], timeout=timeout, check=check)

    def signal_group(self, pid: int, number: int) -> None:
        with Awake(self.process):
            self._agent.spawn("/bin/kill", [f"-{int(number)}", "--", f"-{pid}"], _ENVIRONMENT, None).wait(60)

    def put(self, source: Path | str, target: str, *, timeout: float = 600) -> None:
        """Copy a file or folder to the guest; its owner there is root. An existing folder target gets it inside."""
        source = Path(source)
        if not source.exists():
            raise BedError(f"put: {source}: no such file")
        passage = self.process.share / f"put-{uuid.uuid4().hex}"
        passage.mkdir()
        try:
            name = Path(os.path.abspath(source)).name
            if source.is_dir():
                shutil.copytree(source, passage / name, symlinks=True)
            else:
                shutil.copy(source, passage / name)
            self.run(["cp", "-r", "--no-dereference", "--preserve=mode,timestamps", "--",
                      f"{SHARE}/{passage.name}/{name}", target], timeout=timeout, check=True)
        finally:
            shutil.rmtree(passage)

    def get(self, source: str, target: Path | str, *, timeout: float = 600) -> None:
        """Copy a file or folder from the guest. An existing folder target gets it inside."""
        target = Path(target)
        passage = self.process.share / f"get-{uuid.uuid4().hex}"
        passage.mkdir()
        try:
            self.run(["cp", "-r", "--preserve=mode,timestamps", "--", source, f"{SHARE}/{passage.name}/"],
                     timeout=timeout, check=True)
            for entry in passage.iterdir():
                place = target / entry.name if target.is_dir() else target
                if entry.is_dir():
                    shutil.copytree(entry, place, symlinks=True, dirs_exist_ok=True)
                else:
                    shutil.copy(entry, place)
        finally:
            shutil.rmtree(passage)

    def write_file(self, path: str, content: bytes | str, mode: int = 0o644) -> None:
        """Make a file in the guest, with its folders."""
        self.run(["bash", "-euc", 'mkdir -p -- "$(dirname -- "$1")"; cat > "$1"; chmod "$2" -- "$1"', "bash", path,
                  f"{mode:o}"], stdin=content, check=True)

    def read_file(self, path: str) -> bytes:
        """A file's content (16 MiB at most)."""
        return self.run(["cat", "--", path], check=True).stdout_bytes

    def qmp(self, command: str, **arguments: Any) -> Any:
        """Run a QMP command of the machine's QEMU, e.g. block_set_io_throttle on "drive"."""
        return qmp.execute(self.process.qmp_socket, command, **arguments)
