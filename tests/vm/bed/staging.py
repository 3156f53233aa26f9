# SPDX-License-Identifier: GPL-2.0-or-later
"""The current build, packed as a package would install it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from .errors import BedError


def default_build() -> Path:
    """The tree's build folder: $NTPROF_BUILD, else build."""
    return Path(__file__).resolve().parents[3] / os.environ.get("NTPROF_BUILD", "build")


def pack(build: Path, archive: Path) -> bool:
    """Write the build's installed files into a tar archive; False when there is no build, or nothing to install."""
    if not (build / "build.ninja").exists():
        return False
    with tempfile.TemporaryDirectory(prefix="ntprof-stage-") as stage:
        # Not rebuilt here: several beds may come up at once.
        done = subprocess.run(["meson", "install", "-C", str(build), "--no-rebuild", "--quiet", "--destdir", stage],
                              check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise BedError(f"{build}: meson install failed (./dev build first, or bed up --no-install):\n"
                           f"{done.stdout}{done.stderr}")
        if not any(Path(stage).iterdir()):
            return False
        subprocess.run(["tar", "--create", f"--file={archive}", f"--directory={stage}", "--owner=0", "--group=0",
                        "--numeric-owner", "."], check=True)
    return True
