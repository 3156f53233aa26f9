# SPDX-License-Identifier: GPL-2.0-or-later
"""Talk to a guest's qemu-guest-agent.

Its socket serves one client at a time, so every exchange takes the machine's lock, connects, and starts with
guest-sync-delimited: what an earlier, aborted client left unread goes away with it.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import random
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import BedError

_SLICE = 1.0
"""Seconds after which a wait looks whether the machine still lives."""

_ANSWER_SECONDS = 120.0
"""The agent answers within milliseconds, on a busy machine within seconds."""


class AgentSilent(BedError):
    """The agent did not answer in time."""


@dataclass(frozen=True)
class Ended:
    """A guest command that ended. status is 128 + signal when a signal ended it."""

    status: int
    stdout: bytes
    stderr: bytes
    truncated: bool


class _Session:
    """One connection to the agent."""

    def __init__(self, path: Path, check_alive: Callable[[], None], deadline: float) -> None:
        self._check_alive = check_alive
        self._deadline = deadline
        self._unread = b""
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(_SLICE)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            check_alive()
            raise BedError(f"guest agent: cannot connect to {path}: {error.strerror}") from error

    def close(self) -> None:
        self._socket.close()

    def _line(self) -> bytes:
        while b"\n" not in self._unread:
            try:
                data = self._socket.recv(1 << 20)
            except TimeoutError:
                self._check_alive()
                if time.monotonic() > self._deadline:
                    raise AgentSilent("guest agent: no answer") from None
                continue
            except OSError as error:
                self._check_alive()
                raise BedError(f"guest agent: {error.strerror}") from error
            if not data:
                self._check_alive()
                raise BedError("guest agent: connection closed")
            self._unread += data
        line, self._unread = self._unread.split(b"\n", 1)
        return line

    def _send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[self._socket.send(view):]
            except TimeoutError:
                self._check_alive()
                if time.monotonic() > self._deadline:
                    raise AgentSilent("guest agent: takes no request") from None

    def synchronize(self) -> None:
        number = random.randrange(1 << 31)
        request = {"execute": "guest-sync-delimited", "arguments": {"id": number}}
        self._send(b"\xff" + json.dumps(request).encode() + b"\n")
        while True:
            line = self._line().rpartition(b"\xff")[2]
            with contextlib.suppress(ValueError):
                if line.strip() and json.loads(line).get("return") == number:
                    return

    def call(self, command: str, arguments: Mapping[str, Any]) -> Any:
        self._send(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        answer = json.loads(self._line())
        if "error" in answer:
            raise BedError(f"guest agent: {command}: {answer['error'].get('desc', answer['error'])}")
        return answer["return"]


class Agent:
    """The guest agent behind a socket; any number of processes may use it at once."""

    def __init__(self, path: Path, check_alive: Callable[[], None]) -> None:
        """check_alive raises MachineEnded when the machine is gone."""
        self._path = path
        self._lock = path.with_name(path.name + ".lock")
        self._check_alive = check_alive

    @contextlib.contextmanager
    def _session(self, seconds: float = _ANSWER_SECONDS) -> Iterator[_Session]:
        deadline = time.monotonic() + seconds
        with self._lock.open("w") as lock:
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    self._check_alive()
                    if time.monotonic() > deadline + _ANSWER_SECONDS:
                        raise BedError("guest agent: another process keeps it busy") from None
                    time.sleep(0.01)
            session = _Session(self._path, self._check_alive, deadline)
            try:
                session.synchronize()
                yield session
            finally:
                session.close()

    def wait(self, seconds: float) -> None:
        """Return once the agent answers: the guest's user space is up."""
        with self._session(seconds):
            pass

    def spawn(self, path: str, arguments: Sequence[str], environment: Mapping[str, str],
              stdin: bytes | None) -> Pending:
        """Start a program in the guest."""
        request: dict[str, Any] = {
            "path": path,
            "arg": list(arguments),
            "env": [f"{key}={value}" for key, value in environment.items()],
            "capture-output": True,
        }
        if stdin is not None:
            request["input-data"] = base64.b64encode(stdin).decode()
        with self._session() as session:
            pid = session.call("guest-exec", request)["pid"]
            pending = Pending(self, pid)
            pending.look(session)
        return pending

    def status(self, pid: int, session: _Session | None = None) -> Ended | None:
        """How a started program ended, None while it runs. The agent tells the end only once."""
        with contextlib.ExitStack() as stack:
            session = session or stack.enter_context(self._session())
            answer = session.call("guest-exec-status", {"pid": pid})
        if not answer["exited"]:
            return None
        status = answer["exitcode"] if "exitcode" in answer else 128 + answer.get("signal", 0)
        return Ended(status, base64.b64decode(answer.get("out-data", "")), base64.b64decode(answer.get("err-data", "")),
                     answer.get("out-truncated", False) or answer.get("err-truncated", False))


class Pending:
    """A program started in the guest. Its end includes that of all who hold its stdout or stderr."""

    _SHORT = 0.3
    """Seconds that a fresh program keeps the agent to itself, so that short ones need one connection."""
    _LONGEST_NAP = 0.5

    def __init__(self, agent: Agent, pid: int) -> None:
        self.pid = pid
        self._agent = agent
        self._ended: Ended | None = None

    def look(self, session: _Session) -> None:
        """Poll for a moment within the connection that started the program."""
        end = time.monotonic() + self._SHORT
        while self._ended is None and time.monotonic() < end:
            time.sleep(0.02)
            self._ended = self._agent.status(self.pid, session)

    def poll(self) -> Ended | None:
        if self._ended is None:
            self._ended = self._agent.status(self.pid)
        return self._ended

    def wait(self, seconds: float) -> Ended | None:
        """The program's end, or None when it still runs after so many seconds."""
        end = time.monotonic() + seconds
        nap = 0.05
        while self.poll() is None:
            left = end - time.monotonic()
            if left <= 0:
                return None
            time.sleep(min(nap, left))
            nap = min(nap * 1.5, self._LONGEST_NAP)
        return self._ended
