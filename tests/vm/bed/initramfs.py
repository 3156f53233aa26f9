# SPDX-License-Identifier: GPL-2.0-or-later
"""A small initramfs for each kernel: busybox and the modules that the guests use.

The modules move on to the guest's root, so one root file system serves every kernel.
"""

from __future__ import annotations

import lzma
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import cache, progress
from .errors import BedError
from .kernels import Kernel

_GUEST = Path(__file__).with_name("guest")
_BUSYBOX = Path("/bin/busybox")
_NEEDED = ("virtio_blk", "virtio_console", "9p", "erofs", "overlay", "nvme-tcp", "nvmet-tcp", "nvme-rdma",
           "nvmet-rdma", "rdma_rxe", "null_blk", "dm-delay", "sch_netem", "veth", "ext4")


def _wanted() -> list[str]:
    lines = (_GUEST / "modules").read_text().splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def _closure(kernel: Kernel) -> list[Path]:
    """The files of the wanted modules and of all they depend on."""
    files: set[Path] = set()
    for module in _wanted():
        shown = subprocess.run(["modprobe", "-d", str(kernel.folder), "-S", kernel.release, "-q", "--show-depends",
                                module], check=False, capture_output=True, text=True)
        if shown.returncode != 0 and module in _NEEDED:
            raise BedError(f"kernel {kernel.release}: it has no module {module}")
        for line in shown.stdout.splitlines():
            word, *rest = line.split()
            if word == "insmod":
                files.add(Path(rest[0]))
    return sorted(files)


def _copy_module(source: Path, target: Path) -> None:
    """Copy a module, uncompressed: busybox and the guest's speed want it so."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix == ".xz":
        target.with_suffix("").write_bytes(lzma.decompress(source.read_bytes()))
    elif source.suffix == ".zst":
        subprocess.run(["zstd", "-qdf", str(source), "-o", str(target.with_suffix(""))], check=True)
    else:
        shutil.copyfile(source, target)


def _make(kernel: Kernel, archive: Path) -> None:
    tree = Path(tempfile.mkdtemp(prefix=".new-tree-", dir=archive.parent))
    try:
        for folder in ("bin", "proc", "sys", "dev", "image", "changes", "root"):
            (tree / folder).mkdir()
        shutil.copy(_BUSYBOX, tree / "bin/busybox")
        shutil.copy(_GUEST / "init", tree / "init")
        # Paths by name, not resolved: the modules folder may be reached over a symbolic link.
        base = kernel.folder / "lib/modules" / kernel.release
        modules = tree / "lib/modules" / kernel.release
        for file in _closure(kernel):
            relative = str(file).split(f"/lib/modules/{kernel.release}/", 1)[1]
            _copy_module(file, modules / relative)
        for index in base.glob("modules.builtin*"):
            shutil.copy(index, modules)
        shutil.copy(base / "modules.order", modules)
        subprocess.run(["depmod", "-b", str(tree), kernel.release], check=True)
        with archive.open("wb") as out:
            subprocess.run("find . | LC_ALL=C sort | cpio --create --format=newc --owner=0:0 --quiet | zstd -q -3",
                           shell=True, check=True, cwd=tree, stdout=out)
    finally:
        shutil.rmtree(tree, ignore_errors=True)
    progress.say(f"initramfs of {kernel.release}: {archive.stat().st_size / 2**20:.1f} MiB")


def get(kernel: Kernel) -> Path:
    """The path of the kernel's initramfs, made if need be."""
    key = cache.digest(Path(__file__).read_bytes(), (_GUEST / "modules").read_bytes(),
                       (_GUEST / "init").read_bytes(), str(_BUSYBOX.stat().st_mtime_ns))
    return cache.get("initramfs", f"{kernel.release}-{key}", lambda new: _make(kernel, new))
