#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every file of the tree names its licence in its first lines, the right one for its folder, and the texts are in LICENSES."""

import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TAG = re.compile(r"SPDX-License-Identifier: ((?:[\w.+-]+)(?: OR [\w.+-]+)*)")
FIRST_LINES = 6

GPL = "GPL-2.0-or-later"
LGPL = "LGPL-2.1-or-later"
EITHER = f"{GPL} OR {LGPL}"

# What a program links or reads that uses the service; the first pattern that matches counts.
EXPECTED = [
    ("bpf/record.h", {EITHER}),
    ("bpf/sample-hash.h", {EITHER}),
    ("*.md", {GPL, LGPL}),
    ("model/*", {LGPL}),
    ("shared/*", {LGPL}),
    ("client/libntprof/*", {LGPL}),
    ("client/meson.build", {LGPL}),
    ("dbus/meson.build", {GPL}),
    ("dbus/*", {LGPL}),
    ("tests/*", {GPL, LGPL}),
    ("*", {GPL}),
]

# The texts themselves, data, and lists of names.
WITHOUT = ["LICENSES/*", "tests/fixtures/*", "tests/fuzz/corpus/*", "*.json", ".gitignore", "client/libntprof/libntprof.map",
           "tests/dev/packages", "tests/vm/bed/guest/modules", "tests/vm/bed/guest/packages", "tests/vm/bed/README.md"]


def defect(name: str, text: str) -> str | None:
    """What is wrong with this file's licence, None when nothing is."""
    found = TAG.search("\n".join(text.splitlines()[:FIRST_LINES]))
    if not found:
        return f"{name}: no SPDX-License-Identifier in its first {FIRST_LINES} lines"
    expected = next(licences for pattern, licences in EXPECTED if fnmatch(name, pattern))
    if found.group(1) not in expected:
        return f"{name}: {found.group(1)}, not {' or '.join(sorted(expected))}"
    return None


def tracked() -> list[str] | None:
    """The files that git knows, None outside a checkout."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), "-c", f"safe.directory={ROOT}", "ls-files", "-z"], check=False,
                              capture_output=True, text=True)
    except FileNotFoundError:
        return None
    names = [name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]
    return names if done.returncode == 0 and names else None


def main() -> int:
    names = tracked()
    if names is None:
        print("1..0 # SKIP not a git checkout, so what belongs to the tree is not known")
        return 0

    checked = [name for name in names if not any(fnmatch(name, pattern) for pattern in WITHOUT)]
    wrong = [text for name in checked if (text := defect(name, (ROOT / name).read_text(errors="replace")))]
    texts = [f"LICENSES/{licence}.txt is missing or short" for licence in (GPL, LGPL)
             if not (path := ROOT / f"LICENSES/{licence}.txt").exists() or path.stat().st_size < 10000]
    # it can fail
    tag = "SPDX-License-" + "Identifier: "
    able = [str(case) for case in (
        defect("daemon/x.c", "/* no licence */") is not None,
        defect("daemon/x.c", f"/* {tag}{LGPL} */") is not None,
        defect("model/x.c", f"/* {tag}{GPL} */") is not None,
        defect("model/x.c", f"/* {tag}{LGPL} */") is None,
        defect("bpf/record.h", f"/* {tag}{EITHER} */") is None,
        defect("daemon/x.c", "\n" * FIRST_LINES + f"/* {tag}{GPL} */") is not None,
    ) if not case]

    cases = [(f"{len(checked)} files name their licence", wrong), ("the texts are there", texts), ("a wrong one is found", able)]
    print(f"1..{len(cases)}")
    for number, (name, defects) in enumerate(cases, 1):
        for text in defects:
            print(f"# {text}")
        print(f"{'not ok' if defects else 'ok'} {number} {name}")
    return any(defects for _, defects in cases)


if __name__ == "__main__":
    sys.exit(main())
