# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the beds' state lives: sockets, consoles, shares. Short paths, as a Unix socket's may have 107 characters."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from .errors import BedError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}")


def check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise BedError(f"bed name {name!r}: up to 32 letters, digits, '.', '_' and '-'")
    return name


def root() -> Path:
    """The folder of all of this user's beds; $NTPROF_BEDS or one in /tmp."""
    folder = Path(os.environ.get("NTPROF_BEDS") or f"/tmp/ntprof-beds-{os.getuid()}")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise BedError(f"{folder}: not a folder of this user; set NTPROF_BEDS to another one")
    return folder


def folder(name: str) -> Path:
    return root() / check_name(name)


def names() -> list[str]:
    """The beds there are, up or half up."""
    return sorted(entry.name for entry in root().iterdir() if entry.is_dir())


@contextlib.contextmanager
def lock(name: str) -> Iterator[None]:
    """Hold a bed's name while it is made or ended; BedError when another process does."""
    with (root() / f".{check_name(name)}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BedError(f"bed {name}: another process is bringing it up or down") from None
        yield
