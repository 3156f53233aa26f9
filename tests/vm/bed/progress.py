# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress on stderr: one line a step, with the seconds since start."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from .errors import BedError

_START = time.monotonic()
_HEARTBEAT = 10.0
"""Seconds after which a silent step says that it is still at work."""


def say(text: str) -> None:
    print(f"[{time.monotonic() - _START:5.1f} s] {text}", file=sys.stderr, flush=True)


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    return lines[-1].strip()[:100] if lines else ""


def run_logged(
    argv: Sequence[str],
    log: Path,
    what: str,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> None:
    """Run argv with its output in log, and show the log's last line every 10 s.

    Raises BedError with the log's end when argv fails.
    """
    with log.open("ab") as out:
        try:
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=cwd, env=env)
        except OSError as error:
            raise BedError(f"{what}: cannot run {argv[0]}: {error.strerror}") from error
        try:
            while True:
                try:
                    status = child.wait(_HEARTBEAT)
                    break
                except subprocess.TimeoutExpired:
                    say(f"{what}: {_last_line(log)}")
        except BaseException:
            child.terminate()
            child.wait()
            raise
    if status != 0:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
        raise BedError(f"{what}: {argv[0]} failed with status {status}:\n{tail}")
