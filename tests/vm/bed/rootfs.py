# SPDX-License-Identifier: GPL-2.0-or-later
"""The root file system that every guest boots from, read-only, below a tmpfs."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import apt, cache, progress
from .errors import BedError

DEBIAN = "bookworm"
_GUEST = Path(__file__).with_name("guest")
_LEFT_OUT = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*")


def packages() -> list[str]:
    lines = (_GUEST / "packages").read_text().splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


_PACK = """
work=$(mktemp --directory --tmpdir ntprof-rootfs.XXXXXX)
trap 'rm -rf "$work"' EXIT
mkdir "$work/root"
tar --directory="$work/root" --extract --exclude="./dev/*"
mkfs.erofs --quiet -zlz4 "$work/image" "$work/root" >/dev/null 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
cat "$work/image"
"""
"""Standard input and output, as it may run as another user: the root of a user namespace, whose files it owns."""


def _pack(tar: Path, image: Path) -> None:
    """Turn a tar archive into an erofs image with the same owners and modes."""
    helper = [] if os.geteuid() == 0 else ["mmdebstrap", "--unshare-helper"]
    with tar.open("rb") as source, image.open("wb") as target:
        done = subprocess.run([*helper, "bash", "-euc", _PACK], stdin=source, stdout=target, stderr=subprocess.PIPE,
                              check=False)
    if done.returncode != 0:
        raise BedError(f"root file system: cannot make {image}:\n{done.stderr.decode(errors='replace')}")


def _make(image: Path) -> None:
    progress.say(f"root file system: building it from {len(packages())} Debian {DEBIAN} packages (about a minute)")
    work = Path(tempfile.mkdtemp(prefix="rootfs-", dir=image.parent))
    log = image.parent / "build.log"
    log.write_text("")
    try:
        (work / "apt.conf").write_text(apt.network_options() + 'APT::Install-Recommends "false";\n')
        (work / "sources.list").write_text("\n".join(apt.sources(DEBIAN)) + "\n")
        mode = "root" if os.geteuid() == 0 else "unshare"
        tar = work / "root.tar"
        progress.run_logged(
            ["mmdebstrap", "--variant=minbase", f"--mode={mode}", "--architectures=amd64",
             f"--include={','.join(packages())}", f"--aptopt={work}/apt.conf",
             *[f"--dpkgopt=path-exclude={path}" for path in _LEFT_OUT],
             f"--customize-hook={_GUEST}/customize.sh \"$1\"",
             DEBIAN, str(tar), str(work / "sources.list")],
            log, "root file system")
        _pack(tar, image)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    progress.say(f"root file system: done ({image.stat().st_size >> 20} MiB)")


def image() -> Path:
    """The path of the erofs image, made if need be."""
    here = Path(__file__).read_bytes()
    key = cache.digest(DEBIAN, "\n".join(packages()), (_GUEST / "customize.sh").read_bytes(), here)
    return cache.get("rootfs", f"{DEBIAN}-{key}.erofs", _make)
