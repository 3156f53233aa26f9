# SPDX-License-Identifier: GPL-2.0-or-later
"""./dev test: build, run the tests that were asked for, and sum up."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from results import SUMMARY, Count, count_log, count_tap

_ROOT = Path(__file__).resolve().parents[2]
_SUITES = ("unit", "bus", "peer")
_OTHERS = ("fuzz", "vm")                # not meson's
_FUZZ_SECONDS = 20


def _say(text: str) -> None:
    print(f"== {text}", flush=True)


def _meson(build: Path, suite: str | None) -> Count:
    """Run a suite of meson's tests, or all of them."""
    name = suite or "all"
    _say(f"meson tests: {name}")
    log = build / "meson-logs" / f"dev-{name}.json"
    log.unlink(missing_ok=True)
    argv = ["meson", "test", "-C", str(build), "--no-rebuild", "--print-errorlogs", "--logbase", f"dev-{name}"]
    status = subprocess.run(argv + (["--suite", suite] if suite else []), check=False).returncode
    count = count_log(log)
    if status != 0 and count.failed == 0:
        count += Count(failed=1)
    return count


def _fuzz() -> Count:
    """Run the fuzz targets for a short time; each is a test."""
    _say(f"fuzz targets, {_FUZZ_SECONDS} s")
    output = ""
    with subprocess.Popen([_ROOT / "tests/fuzz/run.sh", str(_FUZZ_SECONDS)], stdout=subprocess.PIPE, text=True, errors="replace") as child:
        assert child.stdout
        for line in child.stdout:
            print(line, end="", flush=True)
            output += line
    count = count_tap(output) or Count()
    return count if child.returncode == 0 or count.failed else count + Count(failed=1)


def _vm(build: Path, further: list[str]) -> Count:
    """Run the tests in the bed; they end with a summary line of their own."""
    program = _ROOT / "tests/vm/run.py"
    _say(" ".join(["tests in the bed", *further]))
    if not program.exists():
        print("this tree has none (no tests/vm/run.py)")
        return Count()
    summary = None
    argv = [sys.executable, "-u", str(program), "--build", str(build), *further]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, errors="replace") as child:
        assert child.stdout
        for line in child.stdout:
            print(line, end="", flush=True)
            summary = SUMMARY.fullmatch(line.strip()) or summary
    count = Count(*map(int, summary.groups())) if summary else Count(failed=1)
    if child.returncode != 0 and count.failed == 0 and count.skipped == 0:
        count += Count(failed=1)
    return count


def _suites(build: Path) -> set[str]:
    out = subprocess.run(["meson", "introspect", str(build), "--tests"], check=True, capture_output=True, text=True)
    return {suite.rpartition(":")[2] for test in json.loads(out.stdout) for suite in test["suite"]}


def _run(parts: list[str], further: list[str], build: Path) -> dict[str, Count]:
    purposes = ["test"] + (["bed"] if not parts or "vm" in parts else [])
    subprocess.run([_ROOT / "tests/dev/packages.sh", *purposes], check=True)
    _say("build")
    if subprocess.run([_ROOT / "tests/dev/build.sh"], check=False).returncode != 0:
        return {"build": Count(failed=1)}
    counts: dict[str, Count] = {}
    if not parts:
        counts["meson"] = _meson(build, None)
    for suite in (part for part in parts if part not in _OTHERS):
        if suite in _suites(build):
            counts[suite] = _meson(build, suite)
        else:
            _say(f"meson tests: {suite}: this tree has none")
            counts[suite] = Count()
    if not parts or "fuzz" in parts:
        counts["fuzz"] = _fuzz()
    if not parts or "vm" in parts:
        counts["vm"] = _vm(build, further)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev test")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(_SUITES)}, fuzz or vm; default: all")
    parser.add_argument("--kernel", action="append", help="for vm: a kernel's name or release, or all; default: two of them")
    parser.add_argument("--turn", nargs="?", const="", metavar="N", help="for vm: one of the other kernels, in turn")
    parser.add_argument("--machines", action="append", help="for vm: only cases for beds of so many; default: 1, 2 and 3")
    parser.add_argument("--case", action="append", help="for vm: only cases whose file has this in its name")
    parser.add_argument("--every", action="store_true", help="for vm: every case for two machines in both beds")
    parser.add_argument("--matrix", action="store_true", help="for vm: the whole matrix of ground truth, and nothing else")
    parser.add_argument("--stress", action="store_true", help="for vm: what takes long, and nothing else")
    arguments = parser.parse_args()
    for part in arguments.parts:
        if part not in (*_SUITES, *_OTHERS):
            parser.error(f"{part}: not one of {', '.join((*_SUITES, *_OTHERS))}")
    os.chdir(_ROOT)
    start = time.monotonic()
    build = Path(os.environ.get("NTPROF_BUILD", "build"))
    further = [word for option in ("kernel", "machines", "case") for value in vars(arguments)[option] or ()
               for word in (f"--{option}", value)] + [f"--{word}" for word in ("every", "matrix", "stress") if vars(arguments)[word]]
    if arguments.turn is not None:
        further += ["--turn", *filter(None, [arguments.turn])]
    counts = _run(arguments.parts, further, build)
    total = sum(counts.values(), Count())
    _say(f"after {(time.monotonic() - start) / 60:.1f} min")
    for name, count in counts.items():
        print(f"{name}: {count}")
    print(total, flush=True)
    skipped_vm = counts.get("vm", Count()).skipped
    return 1 if total.failed or skipped_vm or total.total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
