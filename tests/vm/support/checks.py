# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests and their outcome, as TAP: what was expected and what was measured is said of every check that fails."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from typing import Any


class Stop(Exception):
    """Ends a test that has failed: what comes after would say nothing."""


class Test:
    """Collects the checks of one test. A failed check does not end it, unless asked to."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.failures: list[str] = []
        self.notes: list[str] = []

    def fail(self, text: str) -> None:
        self.failures.append(text)

    def note(self, text: str) -> None:
        """A number worth seeing also when all is well."""
        self.notes.append(text)

    def true(self, what: str, measured: object, expected: str = "true") -> bool:
        if not measured:
            self.fail(f"{what}: expected {expected}, measured {measured!r}")
        return bool(measured)

    def equal(self, what: str, measured: object, expected: object) -> bool:
        if measured != expected:
            self.fail(f"{what}: expected {expected!r}, measured {measured!r}")
        return measured == expected

    def within(self, what: str, measured: float, expected: float, *, share: float = 0.0, margin: float = 0.0,
               unit: str = "") -> bool:
        """measured is expected, give or take a share of it plus a margin."""
        allowed = abs(expected) * share + margin
        good = abs(measured - expected) <= allowed
        if not good:
            off = f", {(measured - expected) / expected:+.1%}" if expected else ""
            self.fail(f"{what}: expected {_number(expected)} +- {_number(allowed)} {unit}, "
                      f"measured {_number(measured)} {unit}{off}")
        return good

    def at_most(self, what: str, measured: float, limit: float, unit: str = "") -> bool:
        if measured > limit:
            self.fail(f"{what}: expected at most {_number(limit)} {unit}, measured {_number(measured)} {unit}")
        return measured <= limit

    def at_least(self, what: str, measured: float, limit: float, unit: str = "") -> bool:
        if measured < limit:
            self.fail(f"{what}: expected at least {_number(limit)} {unit}, measured {_number(measured)} {unit}")
        return measured >= limit

    def contains(self, what: str, text: str, piece: str) -> bool:
        if piece not in text:
            self.fail(f"{what}: expected to read {piece!r} in it, it is {text.strip()!r}")
        return piece in text

    def lacks(self, what: str, text: str, piece: str) -> bool:
        if piece in text:
            self.fail(f"{what}: expected not to read {piece!r} in it, it is {text.strip()!r}")
        return piece not in text

    def stop_if_failed(self) -> None:
        if self.failures:
            raise Stop


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


class Results:
    """Prints TAP and counts. Several kernels' tests can run at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.passed = 0
        self.failed = 0

    @property
    def total(self) -> int:
        return self.passed + self.failed

    def say(self, text: str) -> None:
        with self._lock:
            for line in text.splitlines() or [""]:
                print(f"# {line}")
            sys.stdout.flush()

    def add(self, scope: str, test: Test, seconds: float) -> None:
        with self._lock:
            good = not test.failures
            self.passed += good
            self.failed += not good
            print(f"{'ok' if good else 'not ok'} {self.total} - {scope}: {test.name} ({seconds:.0f} s)")
            for text in test.failures:
                for line in text.splitlines():
                    print(f"#   FAILED {line}")
            for text in test.notes:
                for line in text.splitlines():
                    print(f"#   {line}")
            sys.stdout.flush()

    def end(self) -> None:
        print(f"1..{self.total}")


class Scope:
    """The tests of one kernel."""

    def __init__(self, results: Results, name: str) -> None:
        self.name = name
        self._results = results

    def say(self, text: str) -> None:
        self._results.say(f"{self.name}: {text}")

    def table(self, text: str) -> None:
        self._results.say(f"{self.name}:\n{text}")

    @contextlib.contextmanager
    def test(self, name: str, **_: Any) -> Iterator[Test]:
        """A test: what is raised inside fails it, and the next one begins."""
        test = Test(name)
        since = time.monotonic()
        try:
            yield test
        except Stop:
            pass
        except Exception:  # pylint: disable=broad-except
            test.fail(traceback.format_exc())
        self._results.add(self.name, test, time.monotonic() - since)
