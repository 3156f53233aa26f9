# SPDX-License-Identifier: GPL-2.0-or-later
"""The tests in the bed: the installed service and ntprofctl on real kernels, as TAP, ending with a line of counts.

    run.py [--build DIR] [--kernel 6.1 ...] [--case NAME ...] [--bed NAME]

Each kernel boots one bed (one machine, virtual time) that all its cases use; two kernels run side by side.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
import threading
import time
from types import ModuleType

from bed import Bed, BedError
from bed.bed import down
from cases import ORDER
from support.checks import Results, Scope
from support.ending import end_on_sigterm
from support.lab import Lab

_KERNELS = ("6.1", "6.12")


def _cases(wanted: list[str]) -> list[ModuleType]:
    names = [name for name in ORDER if not wanted or any(part in name for part in wanted)]
    return [importlib.import_module(f"cases.{name}") for name in names]


def _run_cases(bed: Bed, scope: Scope, cases: list[ModuleType]) -> None:
    lab = None
    with scope.test("the bed is made ready for measuring"):
        lab = Lab.prepare(bed, scope)
    if lab is None:
        return
    for case in cases:
        since = time.monotonic()
        try:
            case.run(lab)
        except Exception:  # pylint: disable=broad-except
            with scope.test(f"{case.__name__} runs to its end"):
                raise
        scope.say(f"{case.__name__.rpartition('.')[2]}: {time.monotonic() - since:.0f} s")
        if not bed.alive:
            with scope.test("the machine lives on") as test:
                test.fail(f"after {case.__name__} it has ended; its console:\n{bed.host.process.console_tail()}")
            return


def _bed_name(kernel: str) -> str:
    return f"test-{os.getpid()}-{kernel}"[:32]


def _run_kernel(kernel: str, build: str, cases: list[ModuleType], results: Results) -> None:
    scope = Scope(results, f"kernel {kernel}")
    since = time.monotonic()
    scope.say("booting")
    try:
        with Bed.up(kernel, name=_bed_name(kernel), icount=True, build=build) as bed:
            scope.say(f"{bed.facts.releases['host']} is up after {time.monotonic() - since:.0f} s")
            _run_cases(bed, scope, cases)
    except Exception:  # pylint: disable=broad-except
        with scope.test("the bed boots, and lives on to the end"):
            raise
    scope.say(f"done after {time.monotonic() - since:.0f} s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.environ.get("NTPROF_BUILD", "build"), help="the build to install")
    parser.add_argument("--kernel", action="append", dest="kernels", help="default: 6.1 and 6.12")
    parser.add_argument("--case", action="append", default=[], help="only cases whose file has this in its name")
    parser.add_argument("--bed", help="use this bed, which is up, instead of booting any")
    arguments = parser.parse_args()
    cases = _cases(arguments.case)
    if not cases:
        parser.error(f"no case is called so; there are: {', '.join(ORDER)}")

    results = Results()
    end_on_sigterm()
    if arguments.bed:
        bed = Bed.find(arguments.bed)
        _run_cases(bed, Scope(results, f"kernel {bed.facts.wish.kernel}"), cases)
    else:
        _run_beds(arguments.kernels or list(_KERNELS), arguments.build, cases, results)
    results.end()
    print(f"{results.passed} passed, {results.failed} failed, 0 skipped", flush=True)
    return 1 if results.failed or not results.total else 0


def _run_beds(kernels: list[str], build: str, cases: list[ModuleType], results: Results) -> None:
    """A bed keeps one CPU busy: as many at a time as there are CPUs."""
    slots = threading.Semaphore(max(1, os.cpu_count() or 1))

    def run(kernel: str) -> None:
        with slots:
            _run_kernel(kernel, build, cases, results)

    threads = [threading.Thread(target=run, args=(kernel,), name=kernel) for kernel in dict.fromkeys(kernels)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:
        # Interrupted: the threads would only end with their beds.
        for kernel in kernels:
            with contextlib.suppress(BedError):
                down(_bed_name(kernel))
        os._exit(130)


if __name__ == "__main__":
    sys.exit(main())
