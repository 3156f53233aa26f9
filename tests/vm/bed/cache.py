# SPDX-License-Identifier: GPL-2.0-or-later
"""Things that take long to make, kept outside the tree under a hash of what they are made from."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from . import progress

_DAY = 86400.0
_KEEP_DAYS = 7
"""An entry that no bed used for so long is removed when another of its kind is made."""


def root() -> Path:
    """The cache folder: $NTPROF_CACHE, else the user's cache folder."""
    own = os.environ.get("NTPROF_CACHE")
    if own:
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "ntprof"


def digest(*inputs: str | bytes) -> str:
    """A short hash of everything an entry is made from."""
    h = hashlib.sha256()
    for item in inputs:
        data = item.encode() if isinstance(item, str) else item
        h.update(len(data).to_bytes(8, "little") + data)
    return h.hexdigest()[:16]


@contextlib.contextmanager
def lock(name: str) -> Iterator[None]:
    """Hold the cache-wide lock of that name; says so when another process holds it."""
    folder = root() / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.say(f"{name}: waiting for another process that makes it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _use(entry: Path) -> Path:
    with contextlib.suppress(OSError):
        os.utime(entry)
    return entry


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _prune(folder: Path, keep: Path) -> None:
    now = time.time()
    for entry in folder.iterdir():
        if entry == keep:
            continue
        limit = _DAY if entry.name.startswith(".new-") else _KEEP_DAYS * _DAY
        with contextlib.suppress(OSError):
            if now - entry.stat().st_mtime > limit:
                _remove(entry)


def get(kind: str, name: str, make: Callable[[Path], None]) -> Path:
    """The entry `name` of `kind`; `make(path)` makes it (a file or a folder) when there is none.

    It appears under its name only when complete; two processes never make the same one at once.
    """
    folder = root() / kind
    entry = folder / name
    if entry.exists():
        return _use(entry)
    with lock(f"{kind}-{name}"):
        if entry.exists():
            return _use(entry)
        folder.mkdir(parents=True, exist_ok=True)
        new = folder / f".new-{name}"
        _remove(new)
        try:
            make(new)
            new.rename(entry)
        except BaseException:
            _remove(new)
            raise
        _use(entry)
        _prune(folder, entry)
    return entry
