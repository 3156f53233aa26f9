# SPDX-License-Identifier: GPL-2.0-or-later
"""Stock Debian kernels: which release a name means today, fetched and unpacked, never installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from . import apt, cache, progress
from .errors import BedError

SUITES = {
    "5.10": "bullseye",
    "6.1": "bookworm",
    "6.12": "bookworm-backports",
    "7.2": "forky",
    "newest": "trixie-backports",
}
"""Kernel names and the suites they are taken from. Releases of a suite come and go: name these, not releases."""

FLAVOUR = "amd64"
"""The cloud flavour has no rdma_rxe and no 9p."""

_REMEMBER_SECONDS = 86400
_RELEASE = re.compile(r"\d+\.\d+\S*-amd64")


@dataclass(frozen=True)
class Kernel:
    release: str
    folder: Path
    """vmlinuz, config and lib/modules/RELEASE."""

    @property
    def vmlinuz(self) -> Path:
        return self.folder / "vmlinuz"


def _packages(suite: apt.Suite, release: str) -> list[str]:
    """The packages that hold this release's files; empty when the suite does not have all of them.

    Since Debian's 6.19 linux-image-REL is empty and the files are in three others; old releases that still have
    a linux-image- there may lack their linux-modules-.
    """
    def has(package: str) -> bool:
        return f"\nPackage: {package}\n" in "\n" + suite.query("show", "--no-all-versions", package)

    image = f"linux-image-{release}"
    split = [f"linux-base-{release}", f"linux-binary-{release}", f"linux-modules-{release}"]
    if has(split[1]):
        return split if all(has(package) for package in split) else []
    return [image] if has(image) else []


def _newest(suite: apt.Suite) -> str:
    """The release that the suite's linux-image-amd64 depends on."""
    shown = suite.query("show", "--no-all-versions", f"linux-image-{FLAVOUR}")
    match = re.search(rf"^Depends:.*\blinux-image-(\d\S*-{FLAVOUR})\b", shown, re.MULTILINE)
    if not match:
        raise BedError(f"suite {suite.name}: no linux-image-{FLAVOUR} found there")
    return match.group(1)


def _matching(suite: apt.Suite, version: str | None) -> str | None:
    """The suite's newest complete release of a version like "7.2", or of any."""
    begin = re.escape(version) if version else r"[0-9]+\.[0-9]+"
    found = suite.query("search", "--names-only", rf"^linux-image-{begin}\..*-{FLAVOUR}$")
    releases: list[str] = re.findall(rf"^linux-image-({begin}\.\d\S*-{FLAVOUR})\s", found, re.MULTILINE)
    plain = [release for release in releases if not re.search(r"cloud|rt-|dbg|unsigned", release)]

    def order(release: str) -> list[int]:
        return [int(number) for number in re.findall(r"\d+", release)]

    for release in sorted(plain, key=order, reverse=True):
        if _packages(suite, release):
            return release
    return None


def _ask(name: str) -> tuple[str, str]:
    """(suite, release) of a kernel name, asked from apt."""
    suite = apt.Suite(SUITES[name])
    with suite.fresh():
        release = _newest(suite)
        version = None if name == "newest" else name
        if version and not release.startswith(f"{version}.") or not _packages(suite, release):
            other = _matching(suite, version)
            if other is None or not version:
                progress.say(f"kernel {name}: {suite.name} has {other or release} with all that is needed; taking that")
            release = other or release
    return suite.name, release


def _find(release: str) -> str:
    """The suite that has this release."""
    if not _RELEASE.fullmatch(release):
        raise BedError(f"kernel {release}: not one of {', '.join(SUITES)}, nor a release like 6.1.0-50-{FLAVOUR}")
    for name in SUITES.values():
        suite = apt.Suite(name)
        with suite.fresh():
            if _packages(suite, release):
                return name
    raise BedError(f"kernel {release}: none of the suites {', '.join(SUITES.values())} has it (any more)")


def _resolve(name: str) -> tuple[str, str]:
    """(suite, release) of a kernel name; an answer is good for a day, or for longer while apt cannot be asked."""
    memo = cache.root() / "kernels" / f"{name}.json"
    known: tuple[str, str] | None = None
    if memo.exists():
        stored = json.loads(memo.read_text())
        known = (stored["suite"], stored["release"])
        if time.time() - stored["asked"] < _REMEMBER_SECONDS and _folder(known[1]).exists():
            return known
    try:
        answer = _ask(name)
    except BedError as error:
        if known is None or not _folder(known[1]).exists():
            raise
        progress.say(f"kernel {name}: keeping {known[1]}, as apt cannot be asked: {error}")
        return known
    memo.parent.mkdir(parents=True, exist_ok=True)
    new = memo.with_name(f".new-{memo.name}")
    new.write_text(json.dumps({"suite": answer[0], "release": answer[1], "asked": time.time()}))
    new.rename(memo)
    return answer


def _folder(release: str) -> Path:
    return cache.root() / "kernels" / release


def _unpack(suite_name: str, release: str, folder: Path) -> None:
    suite = apt.Suite(suite_name)
    work = Path(tempfile.mkdtemp(prefix=".new-debs-", dir=folder.parent))
    try:
        with suite.fresh():
            packages = _packages(suite, release)
            progress.say(f"kernel {release}: fetching {', '.join(packages)} from {suite_name}")
            debs = suite.download(packages, work)
        tree = work / "tree"
        for deb in debs:
            subprocess.run(["dpkg-deb", "--extract", str(deb), str(tree)], check=True)
        modules = folder / "lib/modules" / release
        modules.parent.mkdir(parents=True)
        for place in (tree / "usr/lib/modules" / release, tree / "lib/modules" / release):
            if place.is_dir():
                shutil.move(place, modules)
                break
        else:
            raise BedError(f"kernel {release}: its packages hold no modules")
        for part in ("vmlinuz", "config"):
            for place in (tree / f"boot/{part}-{release}", modules / part):
                if place.exists():
                    shutil.move(place, folder / part)
                    break
            else:
                raise BedError(f"kernel {release}: its packages hold no {part}")
        subprocess.run(["depmod", "-b", str(folder), release], check=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def get(name: str) -> Kernel:
    """The kernel of a name ("6.1", "newest", ...) or of an exact release, fetched if need be."""
    if name in SUITES:
        suite, release = _resolve(name)
        progress.say(f"kernel {name}: {release} ({suite})")
    else:
        release = name
        suite = "" if _folder(release).exists() else _find(release)
    folder = cache.get("kernels", release, lambda new: _unpack(suite, release, new))
    return Kernel(release, folder)
