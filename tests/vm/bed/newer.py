# SPDX-License-Identifier: GPL-2.0-or-later
"""A program of a newer Debian than the guests', in a folder with the dynamic loader and the libraries that it needs."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from . import apt, cache, progress
from .errors import BedError

_LOADER = "ld-linux-x86-64.so.2"
_START = f"""#!/bin/sh
here=$(dirname "$0")
exec "$here/lib/{_LOADER}" --library-path "$here/lib" "$here/NAME" "$@"
"""


def _libraries(program: Path, tree: Path) -> list[Path]:
    """The files of the libraries that a program needs, the loader's among them."""
    folder = tree / "usr/lib/x86_64-linux-gnu"
    loader = folder / _LOADER
    shown = subprocess.run([loader, "--library-path", folder, "--list", program], check=False, capture_output=True, text=True)
    if shown.returncode != 0:
        raise BedError(f"{program}: its loader does not find what it needs:\n{shown.stdout}{shown.stderr}")
    found = [Path(words[2]) for words in map(str.split, shown.stdout.splitlines()) if len(words) > 2 and words[1] == "=>"]
    strangers = [path for path in found if folder not in path.parents]
    if strangers:
        raise BedError(f"{program}: needs {', '.join(map(str, strangers))}, which its packages do not hold")
    return [loader, *found]


def _unpack(suite_name: str, package: str, path: str, folder: Path) -> None:
    suite = apt.Suite(suite_name)
    work = Path(tempfile.mkdtemp(prefix=".new-debs-", dir=folder.parent))
    try:
        with suite.fresh():
            progress.say(f"{Path(path).name}: fetching {package} and what it depends on from {suite_name}")
            debs = suite.download_with_dependencies([package], work)
        tree = work / "tree"
        for deb in debs:
            subprocess.run(["dpkg-deb", "--extract", deb, tree], check=True)
        program = tree / path
        (folder / "lib").mkdir(parents=True)
        for library in _libraries(program, tree):
            shutil.copy(library, folder / "lib")
        shutil.copy(program, folder / f"{program.name}.program")
        start = folder / program.name
        start.write_text(_START.replace("NAME", f"{program.name}.program"))
        start.chmod(0o755)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def get(suite: str, package: str, path: str) -> Path:
    """A folder to be put into a guest, anywhere: what has the program's name in it starts the program, which is at path in that
    package of that suite."""
    name = f"{suite}-{package}-{cache.digest(path, Path(__file__).read_bytes())}"
    return cache.get("programs", name, lambda new: _unpack(suite, package, path, new))
