# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian suites other than the machine's own, by a private apt folder.

Which archive to ask comes from the machine's apt configuration; nothing of it is changed.
"""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import cache, progress
from .errors import BedError

_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
_FRESH_SECONDS = 86400
_NETWORK_OPTIONS = ("Acquire::http", "Acquire::https", "Acquire::Check-Valid-Until", "Acquire::Check-Date",
                    "Acquire::Retries")


@dataclass(frozen=True)
class _Index:
    uri: str
    codename: str


def _read_indexes(options: list[str]) -> list[_Index]:
    out = subprocess.run(
        ["apt-get", *options, "indextargets", "--format", "$(ORIGIN)|$(REPO_URI)|$(CODENAME)|$(COMPONENT)",
         "Created-By: Packages"],
        check=True, capture_output=True, text=True).stdout
    found = []
    for line in out.splitlines():
        origin, uri, codename, component = line.split("|")
        if origin == "Debian" and component == "main":
            found.append(_Index(uri, codename))
    return found


@functools.cache
def _indexes() -> list[_Index]:
    """The machine's own Debian package indexes (component main)."""
    found = _read_indexes([])
    if found:
        return found
    # Its package lists were never fetched, or removed, as container images do: fetch them into a folder of ours.
    folder = cache.root() / "apt" / "machine"
    options = [f"-oDir::State::Lists={folder}/lists", f"-oDir::Cache={folder}/cache", "-oAPT::Sandbox::User=root"]
    with cache.lock("apt-machine"):
        for part in ("lists/partial", "cache/archives/partial"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        found = _read_indexes(options)
        if not found:
            progress.say("apt: this machine has no package lists; fetching them into the cache folder")
            progress.run_logged(["apt-get", *options, "-qq", "update"], folder / "update.log", "apt")
            found = _read_indexes(options)
    return found


def _archive() -> str:
    """The URI of the main Debian archive that this machine uses."""
    for index in _indexes():
        if not any(word in index.codename for word in ("security", "updates", "backports")):
            return index.uri
    raise BedError("apt knows no Debian archive (component main): run apt-get update, or add one to its sources")


def _source(uri: str, suite: str) -> str:
    return f"deb [signed-by={_KEYRING}] {uri} {suite} main"


def sources(release: str) -> list[str]:
    """sources.list lines for a Debian release, with its updates and security where this machine has them."""
    lines = [_source(index.uri, index.codename) for index in _indexes()
             if index.codename in (release, f"{release}-updates", f"{release}-security")]
    main = _source(_archive(), release)
    return lines if main in lines else [main, *lines]


def network_options() -> str:
    """The machine's apt settings about proxies, certificates and dates, as an apt.conf text."""
    return subprocess.run(["apt-config", "dump", "--format", '%F "%v";%n', *_NETWORK_OPTIONS],
                          check=True, capture_output=True, text=True).stdout


class Suite:
    """One Debian suite as apt sees it, with its own lists below the cache folder."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._folder = cache.root() / "apt" / name

    def _options(self) -> list[str]:
        folder = self._folder
        values = {
            "APT::Architecture": "amd64",
            "APT::Architectures": "amd64",
            "APT::Sandbox::User": "root",
            "Dir::Etc::SourceList": str(folder / "sources.list"),
            "Dir::Etc::SourceParts": "/dev/null",
            "Dir::Etc::Preferences": "/dev/null",
            "Dir::Etc::PreferencesParts": "/dev/null",
            "Dir::State": str(folder),
            "Dir::State::Lists": str(folder / "lists"),
            "Dir::State::status": "/dev/null",
            "Dir::Cache": str(folder / "cache"),
            "Dir::Cache::pkgcache": "",
            "Dir::Cache::srcpkgcache": "",
            "Acquire::Languages": "none",
            "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled": "false",
            "Acquire::Retries": "3",
        }
        return [f"-o{key}={value}" for key, value in values.items()]

    @contextlib.contextmanager
    def fresh(self) -> Iterator[None]:
        """Hold the suite with package lists that are at most a day old."""
        with cache.lock(f"apt-{self.name}"):
            stamp = self._folder / "updated"
            source = _source(_archive(), self.name) + "\n"
            listed = self._folder / "sources.list"
            known = listed.exists() and listed.read_text() == source
            if not (known and stamp.exists() and time.time() - stamp.stat().st_mtime < _FRESH_SECONDS):
                for part in ("lists/partial", "cache/archives/partial"):
                    (self._folder / part).mkdir(parents=True, exist_ok=True)
                listed.write_text(source)
                progress.say(f"suite {self.name}: fetching the package lists")
                progress.run_logged(["apt-get", *self._options(), "-qq", "--error-on=any", "update"],
                                    self._folder / "update.log", f"suite {self.name}")
                stamp.touch()
            yield

    def query(self, *arguments: str) -> str:
        """The output of apt-cache with these arguments; empty when it finds nothing."""
        done = subprocess.run(["apt-cache", *self._options(), *arguments],
                              check=False, capture_output=True, text=True)
        return done.stdout

    def download(self, packages: list[str], folder: Path) -> list[Path]:
        """Fetch the packages' newest .deb files into folder."""
        progress.run_logged(["apt-get", *self._options(), "-qq", "download", *packages], folder / "download.log",
                            f"suite {self.name}", cwd=folder, env={**os.environ, "LC_ALL": "C.UTF-8"})
        return sorted(folder.glob("*.deb"))

    def download_with_dependencies(self, packages: list[str], folder: Path) -> list[Path]:
        """Fetch the packages' newest .deb files and those of all they depend on into folder."""
        (folder / "partial").mkdir(exist_ok=True)
        options = [*self._options(), f"-oDir::Cache::archives={folder}"]
        progress.run_logged(["apt-get", *options, "-qq", "--yes", "--no-install-recommends", "--download-only", "install",
                             *packages], folder / "download.log", f"suite {self.name}")
        return sorted(folder.glob("*.deb"))
