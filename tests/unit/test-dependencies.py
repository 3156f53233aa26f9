#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Dependencies between folders point one way (ARCHITECTURE.md): what each may include, checked over every source of the tree."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.MULTILINE)

LIBBPF = ("bpf/libbpf.h", "bpf/bpf.h", "bpf/btf.h", "libelf.h", "gelf.h")
SD_BUS = ("systemd/sd-bus.h", "systemd/sd-bus-protocol.h", "systemd/sd-bus-vtable.h")

# folder of the file, what it may not include: a system header, or a folder of ours ("daemon/")
RULES = [
    ("model", ("daemon/", "client/", *LIBBPF, *SD_BUS, "systemd/")),
    ("shared", ("daemon/", "client/", "model/", "bpf/", *LIBBPF, *SD_BUS, "systemd/")),
    ("client", ("daemon/", "peerd/", "bpf/", *LIBBPF, *SD_BUS, "systemd/")),
    ("bpf", ("daemon/", "client/", "model/")),
    ("daemon/session", ("client/", "daemon/bus/", "daemon/kernel/", *LIBBPF, *SD_BUS)),
    ("daemon/kernel", ("client/", "daemon/bus/", "daemon/session/", *SD_BUS)),
    ("daemon/capture", ("client/", "daemon/bus/", *SD_BUS)),
    ("daemon/peer", ("client/", "daemon/bus/", "daemon/kernel/", "daemon/capture/capture-bpf.h", *LIBBPF, *SD_BUS)),
    ("daemon/bus", ("client/", "daemon/kernel/", "daemon/capture/capture-bpf.h", *LIBBPF)),
    ("peerd", ("client/", "daemon/", "bpf/", "model/", *LIBBPF, *SD_BUS)),
    ("daemon/.", ("client/", *LIBBPF, *SD_BUS)),         # main.c and what it shares with all
]


def target(source: Path, bracket: str, name: str) -> str:
    """A folder of ours and the file in it, or the name of a system header."""
    if bracket == '"':
        for base in (source.parent, ROOT):
            found = (base / name).resolve()
            if found.is_relative_to(ROOT) and found.exists():
                return str(found.relative_to(ROOT))
    return name


def violations(root: Path = ROOT) -> list[str]:
    found = []
    for folder, forbidden in RULES:
        here = root / folder
        sources = here.glob("*.[ch]") if folder.endswith("/.") else here.rglob("*.[ch]")
        for source in sorted(sources):
            for bracket, name in INCLUDE.findall(source.read_text()):
                included = target(source, bracket, name)
                for rule in forbidden:
                    if included == rule or (rule.endswith("/") and included.startswith(rule)):
                        found.append(f"{source.relative_to(root)} includes {name}: {folder} may not include {rule}")
    return found


def main() -> int:
    cases = []
    count = sum(1 for folder, _ in RULES for _ in (ROOT / folder).rglob("*.[ch]"))
    cases.append(("every folder has sources", [f"{folder} is empty" for folder, _ in RULES if not list((ROOT / folder).rglob("*.[ch]"))]))
    cases.append((f"{count} sources include only what their folder may", violations()))
    # it can fail: the same rules find a wrong include
    line = INCLUDE.findall('#include <bpf/libbpf.h>\n  #  include "../daemon/error.h"\n// #include <x.h>\n')
    cases.append(("includes are found", [] if line == [("<", "bpf/libbpf.h"), ('"', "../daemon/error.h")] else [str(line)]))
    resolved = target(ROOT / "model/stage.h", '"', "../daemon/error.h")
    cases.append(("paths are resolved", [] if resolved == "daemon/error.h" else [resolved]))
    print(f"1..{len(cases)}")
    for number, (name, wrong) in enumerate(cases, 1):
        for text in wrong:
            print(f"# {text}")
        print(f"{'not ok' if wrong else 'ok'} {number} {name}")
    return any(wrong for _, wrong in cases)


if __name__ == "__main__":
    sys.exit(main())
