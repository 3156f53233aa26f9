# SPDX-License-Identifier: GPL-2.0-or-later
"""The tests in the bed: the installed service and ntprofctl on real kernels, as TAP, ending with a line of counts.

    run.py [--build DIR] [--kernel NAME ... | --turn [N]] [--machines N ...] [--case NAME ...] [--every] [--bed NAME]
    run.py [--build DIR] [--kernel NAME ...] [--case NAME ...] [--bed NAME] --matrix | --stress

With one machine each kernel boots one bed (virtual time) that all its cases use; as many beds side by side as there are
CPUs. With two or three, beds come one after the other, each with another kernel on the target than on the host.
NAME is a name of bed/kernels.py, an exact release, or "all". By default two kernels are tested; --turn takes one of the others
instead of the second: the Nth, or by the number of commits, so that a commit always has the same, and the next one another.
With --stress nothing but what takes long (cases_stress/), in real time.
With --matrix nothing but all of the matrix of ground truth (matrix/), and then its table is written into docs/ground-truth.md;
--case takes some of its cells, and writes nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cases
import cases_stress
import cases_three
import cases_two
from bed import Bed, BedError
from bed.bed import abandon
from matrix import matrix
from support import lab, lab_two
from support.checks import Results, Scope
from support.ending import end_on_sigterm

_DEFAULT = ("6.1", "newest")
_IN_TURN = ("6.12", "7.2", "5.10")
_ALL = (*_DEFAULT, *_IN_TURN)


@dataclass(frozen=True)
class Suite:
    """The cases for beds of so many machines."""

    machines: int
    package: Any
    prepare: Callable[[Bed, Scope], Any]
    always: str | None = None
    """The case that the others build on."""
    each_way: tuple[str, ...] | None = None
    """Cases for every bed, where the others are shared out among them; None: all are for every bed."""
    virtual_time: bool = False

    def names(self, wanted: Sequence[str]) -> list[str]:
        """Of the cases to run; wanted: pieces of names, none for all."""
        found = [name for name in self.package.ORDER if not wanted or any(part in name for part in wanted)]
        return found if not found or self.always in (None, *found) else [str(self.always), *found]

    def share(self, names: Sequence[str], bed: int, beds: int) -> list[str]:
        """Of names, those for this bed of so many."""
        if self.each_way is None:
            return list(names)
        shared = [name for name in names if name not in self.each_way][bed::beds]
        return [name for name in names if name in self.each_way or name in shared]

    def beds(self, kernels: Sequence[str]) -> list[tuple[str, str | None]]:
        """Kernels of host and target."""
        if self.machines == 1:
            return [(kernel, None) for kernel in kernels]
        others = [*kernels[1:], kernels[0]]
        pairs: list[tuple[str, str | None]] = list(zip(kernels, others, strict=True))
        return pairs if self.machines == 2 else pairs[-1:]


_SUITES = (
    Suite(1, cases, lab.Lab.prepare, virtual_time=True),
    Suite(2, cases_two, lab_two.Lab.prepare, cases_two.ORDER[0], cases_two.EACH_WAY),
    Suite(3, cases_three, lab_two.Lab.prepare_paired),
)
_STRESS = Suite(1, cases_stress, lab.Lab.prepare)


def _run_cases(bed: Bed, scope: Scope, suite: Suite, names: list[str]) -> None:
    prepared = None
    with scope.test("the bed is made ready for measuring"):
        prepared = suite.prepare(bed, scope)
    if prepared is None:
        return
    for name in names:
        since = time.monotonic()
        try:
            importlib.import_module(f"{suite.package.__name__}.{name}").run(prepared)
        except Exception:  # pylint: disable=broad-except
            with scope.test(f"{name} runs to its end"):
                raise
        scope.say(f"{name}: {time.monotonic() - since:.0f} s")
        if not bed.alive:
            with scope.test("the machines live on") as test:
                ended = [machine for machine in bed.virtual_machines if not machine.process.alive]
                test.fail("\n".join(f"after {name} the {machine.role} has ended; its console:\n{machine.process.console_tail()}"
                                    for machine in ended))
            return


def _bed_name(machines: int, kernel: str) -> str:
    return f"test-{os.getpid()}-{machines}-{kernel}"[:32]


def _scope_name(machines: int, kernel: str, target_kernel: str | None) -> str:
    if machines == 1:
        return f"kernel {kernel}"
    return f"host {kernel}, target {target_kernel}" + (f", target2 {kernel}" if machines == 3 else "")


def _run_bed(kernel: str, target_kernel: str | None, build: str, suite: Suite, names: list[str], results: Results) -> None:
    scope = Scope(results, _scope_name(suite.machines, kernel, target_kernel))
    since = time.monotonic()
    scope.say("booting")
    try:
        with Bed.up(kernel, name=_bed_name(suite.machines, kernel), machines=suite.machines, target_kernel=target_kernel,
                    icount=suite.virtual_time, build=build) as bed:
            scope.say(f"{' and '.join(bed.facts.releases.values())} up after {time.monotonic() - since:.0f} s")
            _run_cases(bed, scope, suite, names)
    except Exception:  # pylint: disable=broad-except
        with scope.test("the bed boots, and lives on to the end"):
            raise
    scope.say(f"done after {time.monotonic() - since:.0f} s")


def _run_suite(suite: Suite, names: list[str], every: bool, kernels: list[str], build: str, results: Results) -> None:
    """A machine can keep a CPU busy: as many beds at a time as there are CPUs for, with several machines one."""
    slots = threading.Semaphore(max(1, (os.cpu_count() or 1) // (1 if suite.machines == 1 else suite.machines * 2)))

    interrupted = threading.Event()

    def run(kernel: str, target_kernel: str | None, share: list[str]) -> None:
        with slots:
            if interrupted.is_set():
                return
            _run_bed(kernel, target_kernel, build, suite, share, results)

    beds = suite.beds(kernels)
    threads = [threading.Thread(target=run, args=(*bed, names if every else suite.share(names, i, len(beds))), name=str(bed))
               for i, bed in enumerate(beds)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:
        # The threads would only end with their beds.
        interrupted.set()
        for kernel, _ in beds:
            with contextlib.suppress(BedError, OSError):
                abandon(_bed_name(suite.machines, kernel))
        os._exit(130)


def _kernels(wanted: Sequence[str] | None, turn: int | None) -> list[str]:
    """The kernels to test; turn: which of those in turn is to stand in for the second, below 0: as the commit has it."""
    if turn is not None:
        if turn < 0:
            turn = int(subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=Path(__file__).parent, check=True,
                                      stdout=subprocess.PIPE, text=True).stdout)
        return [_DEFAULT[0], _IN_TURN[turn % len(_IN_TURN)]]
    return list(dict.fromkeys(kernel for name in wanted or _DEFAULT for kernel in (_ALL if name == "all" else [name])))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.environ.get("NTPROF_BUILD", "build"), help="the build to install")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--kernel", action="append", dest="kernels",
                       help=f"{', '.join(_ALL)}, a release, or all; default: {' and '.join(_DEFAULT)}")
    which.add_argument("--turn", type=int, nargs="?", const=-1, metavar="N",
                       help=f"{_DEFAULT[0]}, and in turn one of {', '.join(_IN_TURN)}")
    parser.add_argument("--machines", action="append", type=int, choices=[suite.machines for suite in _SUITES],
                        help="only cases for beds of so many machines; default: all")
    parser.add_argument("--case", action="append", default=[], help="only cases whose file has this in its name")
    parser.add_argument("--every", action="store_true", help="with several beds of two machines: every case in each of them")
    parser.add_argument("--matrix", action="store_true", help="the whole matrix of ground truth, and its table for docs/")
    parser.add_argument("--stress", action="store_true", help="only what takes long: half an hour a kernel, in real time")
    parser.add_argument("--bed", help="use this bed, which is up, instead of booting any")
    arguments = parser.parse_args()
    kernels = _kernels(arguments.kernels, arguments.turn)
    if arguments.matrix:
        return _run_matrix(arguments.bed, kernels, arguments.build, arguments.case)
    bed = Bed.find(arguments.bed) if arguments.bed else None
    suites = (_STRESS,) if arguments.stress else _SUITES
    machines = [bed.facts.wish.machines] if bed else arguments.machines or [suite.machines for suite in suites]
    chosen = [(suite, suite.names(arguments.case)) for suite in suites if suite.machines in machines]
    if not any(names for _, names in chosen):
        parser.error(f"no case is called so; there are: "
                     f"{', '.join(name for suite in suites for name in suite.package.ORDER)}")

    results = Results()
    end_on_sigterm()
    for suite, names in chosen:
        if bed:
            wish = bed.facts.wish
            _run_cases(bed, Scope(results, _scope_name(wish.machines, wish.kernel, wish.target_kernel)), suite, names)
        elif names:
            _run_suite(suite, names, arguments.every or bool(arguments.case), kernels, arguments.build, results)
    return _end(results)


def _end(results: Results) -> int:
    results.end()
    print(f"{results.passed} passed, {results.failed} failed, 0 skipped", flush=True)
    return 1 if results.failed or not results.total else 0


def _run_matrix(bed_name: str | None, kernels: list[str], build: str, wanted: Sequence[str]) -> int:
    """In one bed: the host has the first of the kernels, the target the last."""
    results = Results()
    end_on_sigterm()
    scope = Scope(results, "matrix")
    with contextlib.ExitStack() as beds:
        with scope.test("a bed of two machines boots"):
            bed = Bed.find(bed_name) if bed_name else beds.enter_context(
                Bed.up(kernels[0], name=_bed_name(2, "matrix"), machines=2, target_kernel=kernels[-1], build=build))
            matrix.run_all(bed, scope, wanted)
    return _end(results)


if __name__ == "__main__":
    sys.exit(main())
