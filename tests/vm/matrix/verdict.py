# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the report has what was injected, and only in the right rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .measure import Seen
from .plan import Cell

LEAST, MOST = 0.95, 1.05
"""The share of what was injected that must be in the right rows."""


def _in(row: str, right: Sequence[str]) -> bool:
    return row in right or row.split(".", maxsplit=1)[0] in right


@dataclass(frozen=True)
class Verdict:
    """A cell measured once: without the injection and with it."""

    cell: Cell
    injected_ns: float
    """What the mean latency grew by, by who issued the commands."""
    reported_ns: dict[str, float | None]
    """What each right row grew by; None: the report does not tell it."""
    largest: str
    """The row that is largest with the injection, of those that no others are parts of."""
    largest_stage: str
    elsewhere_ns: dict[str, float]
    """What other rows that no others are parts of grew or shrank by."""
    why_none: str | None

    @staticmethod
    def of(cell: Cell, base: Seen, seen: Seen) -> Verdict:
        reported: dict[str, float | None] = {}
        for row in cell.right:
            before, after = base.rows.get(row), seen.rows.get(row)
            reported[row] = None if before is None or after is None else after - before
        largest = max(seen.leaves, key=lambda row: seen.rows[row] or 0, default="")
        elsewhere = {row: (seen.rows[row] or 0) - (base.rows.get(row) or 0) for row in seen.leaves
                     if not _in(row, cell.right)}
        return Verdict(cell, seen.lat_ns - base.lat_ns, reported, largest, seen.largest, elsewhere,
                       base.why_none or seen.why_none)

    @property
    def untold(self) -> list[str]:
        return [row for row, ns in self.reported_ns.items() if ns is None]

    @property
    def share(self) -> float:
        """Of what was injected, in the right rows."""
        return sum(ns or 0 for ns in self.reported_ns.values()) / self.injected_ns if self.injected_ns > 0 else 0.0

    @property
    def largest_is_right(self) -> bool:
        return _in(self.largest, self.cell.right) and any(row.split(".")[0] == self.largest_stage for row in self.cell.right)

    @property
    def good(self) -> bool:
        return not self.why_none and not self.untold and LEAST <= self.share <= MOST and self.largest_is_right

    @property
    def trouble(self) -> str:
        """What is wrong with it, nothing when nothing is."""
        if self.why_none:
            return self.why_none
        found = [f"not told: {', '.join(self.untold)}"] if self.untold else []
        if not LEAST <= self.share <= MOST:
            found.append(f"share {self.share:.1%}")
            found.append("elsewhere " + ", ".join(f"{row} {ns / 1e3:+.0f}" for row, ns in self.elsewhere_ns.items()
                                                  if abs(ns) > 0.01 * self.injected_ns))
        if not self.largest_is_right:
            found.append(f"largest is {self.largest} of {self.largest_stage}")
        return "; ".join(found)
