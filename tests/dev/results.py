# SPDX-License-Identifier: GPL-2.0-or-later
"""Count tests: what a meson run's JSON log holds, down to the subtests."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SUMMARY = re.compile(r"(\d+) passed, (\d+) failed, (\d+) skipped")

_TAP_LINE = re.compile(r"(not )?ok\b(?:\s+\d+)?(?:\s+-)?\s*([^#]*)(?:#\s*(\w+))?")
_TAP_PLAN = re.compile(r"1\.\.(\d+)\s*(?:#\s*(skip))?", re.IGNORECASE)
_UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
_UNITTEST_END = re.compile(r"^(?:OK|FAILED)(?: \(([^)]*)\))?$", re.MULTILINE)

_PASSED = ("OK", "EXPECTEDFAIL")


@dataclass(frozen=True)
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"

    @property
    def total(self) -> int:
        return self.passed + self.failed + self.skipped


def count_tap(output: str) -> Count | None:
    """The top-level tests of a TAP output; None when it is none."""
    count = Count()
    planned = None
    for line in output.splitlines():
        plan = _TAP_PLAN.fullmatch(line.rstrip())
        if plan:
            planned = int(plan.group(1))
            if plan.group(2):
                return Count(skipped=1)
        found = _TAP_LINE.match(line)
        if not found:
            continue
        directive = (found.group(3) or "").lower()
        if directive.startswith("skip"):
            count += Count(skipped=1)
        elif bool(found.group(1)) != (directive == "todo"):
            count += Count(failed=1)
        else:
            count += Count(passed=1)
    if planned is None:
        return None
    return count + Count(failed=max(0, planned - count.total))  # it ended before its plan did


def _unittest(output: str) -> Count | None:
    """The tests of Python's unittest; None when it is not its output."""
    ran = sum(int(number) for number in _UNITTEST_RAN.findall(output))
    ends = _UNITTEST_END.findall(output)
    if not ends or not _UNITTEST_RAN.search(output):
        return None
    words = re.findall(r"([\w ]+)=(\d+)", ", ".join(ends))
    numbers = {word.strip(): int(number) for word, number in words}
    failed = numbers.get("failures", 0) + numbers.get("errors", 0) + numbers.get("unexpected successes", 0)
    skipped = numbers.get("skipped", 0)
    return Count(max(0, ran - failed - skipped), failed, skipped)


def count_one(entry: dict[str, Any]) -> Count:
    """The subtests of one test of meson's log; the test itself is one when it shows none."""
    result = entry["result"]
    if result == "SKIP":
        return Count(skipped=1)
    count = count_tap(entry.get("stdout") or "") or _unittest(entry.get("stderr") or entry.get("stdout") or "")
    if result in _PASSED:
        return count if count and count.failed == 0 else Count(passed=1)
    count = count or Count()
    return count if count.failed else count + Count(failed=1)


def count_log(log: Path) -> Count:
    """All tests of a meson log (one JSON object a line)."""
    count = Count()
    if log.exists():
        for line in log.read_text().splitlines():
            count += count_one(json.loads(line))
    return count
