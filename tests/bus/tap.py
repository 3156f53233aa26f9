# SPDX-License-Identifier: GPL-2.0-or-later
"""Subtests as the Test Anything Protocol: functions decorated with @case run in order, each with what fixture() yields."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Callable


class Skip(Exception):
    """This case cannot run here; why is its text."""


_cases: list[tuple[str, Callable]] = []


def case(function: Callable) -> Callable:
    _cases.append((function.__name__.replace("_", " "), function))
    return function


def main(fixture: Callable[[], contextlib.AbstractContextManager]) -> None:
    """Run all cases, or those whose names hold a word of the command line."""
    wanted = sys.argv[1:]
    chosen = [(n, f) for n, f in _cases if not wanted or any(w in n for w in wanted)]
    print(f"1..{len(chosen)}", flush=True)
    failed = 0
    for number, (name, function) in enumerate(chosen, 1):
        try:
            with fixture() as given:
                function(given)
        except Skip as why:
            print(f"ok {number} {name} # SKIP {why}", flush=True)
        except BaseException:  # noqa: BLE001  # KeyboardInterrupt too: the bus and the daemon have been ended by then
            failed += 1
            for line in traceback.format_exc().splitlines():
                print(f"# {line}")
            print(f"not ok {number} {name}", flush=True)
        else:
            print(f"ok {number} {name}", flush=True)
    sys.exit(1 if failed else 0)
