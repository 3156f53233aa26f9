# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure cells, one test each."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from bed import Bed
from support.checks import Scope, Test
from support.fio import Kind
from support.lab_two import Lab

from . import plan, table
from .measure import Bench, Seen
from .plan import Cell, Injection
from .verdict import LEAST, MOST, Verdict

_ROUNDS = 3
"""A cell that is not right is measured so often in all, and the median of its shares counts: a busy computer takes time,
too."""

_DOCUMENT = Path(__file__).parents[3] / "docs/ground-truth.md"

Seens = dict[Kind, Seen]


class Matrix:
    """Cells of a bed of two machines. Briefly: with half of the commands."""

    def __init__(self, bed: Bed, scope: Scope, briefly: bool = False) -> None:
        self._bench = Bench(bed)
        self._briefly = briefly
        self._scope = scope
        self._bases: dict[tuple[str, str, plan.Load], Seens] = {}

    def run(self, cells: Sequence[Cell]) -> list[Verdict]:
        """The verdicts of the cells that could be measured; the table is printed."""
        verdicts: list[Verdict] = []
        with self._scope.test("the drives of the matrix are exported"):
            self._bench.prepare()
        for transport, injection in product(plan.TRANSPORTS, plan.INJECTIONS):
            mine = [cell for cell in cells if cell.transport == transport and cell.injection is injection]
            if mine:
                verdicts += self._row(transport, injection, mine)
        self._scope.table(table.text(verdicts))
        with self._scope.test("the bed is as before"):
            self._bench.restore()
        return verdicts

    def _row(self, transport: str, injection: Injection, cells: Sequence[Cell]) -> list[Verdict]:
        rounds: dict[Cell, list[Verdict]] = {cell: [] for cell in cells}
        trouble = ""
        for number in range(_ROUNDS):
            again = [cell for cell in cells if number == 0 or rounds[cell] and not rounds[cell][0].good]
            if not again:
                break
            try:
                for verdict in self._measure(transport, injection, again, number > 0):
                    rounds[verdict.cell].append(verdict)
            except Exception as error:  # pylint: disable=broad-except
                trouble = f"{type(error).__name__}: {error}"
                self._scope.say(f"{transport}, {injection.name}: {trouble}")
        verdicts = []
        for cell in cells:
            with self._scope.test(f"{cell.name}: {LEAST:.0%} to {MOST:.0%} of what was injected is in the right rows, and "
                                  "one of them is largest") as test:
                verdicts += self._judge(test, rounds[cell], trouble)
        return verdicts

    @staticmethod
    def _judge(test: Test, rounds: Sequence[Verdict], trouble: str) -> list[Verdict]:
        for verdict in rounds:
            test.note(f"injected {verdict.injected_ns / 1e3:.0f} us, share {verdict.share:.1%}: " + ", ".join(
                f"{row} {'?' if ns is None else format(ns / 1e3, '.0f')}" for row, ns in verdict.reported_ns.items())
                + (f" ({verdict.trouble})" if verdict.trouble else ""))
        if not rounds:
            test.fail(f"not measured: {trouble}")
            return []
        median = sorted(rounds, key=lambda verdict: verdict.share)[len(rounds) // 2]
        if not median.good:
            test.fail(median.trouble)
        return [median]

    def _measure(self, transport: str, injection: Injection, cells: Sequence[Cell], anew: bool) -> list[Verdict]:
        kinds = [cell.kind for cell in cells]
        load = injection.load.brief() if self._briefly else injection.load
        base = self._base(transport, injection.base_drive, load, kinds, anew)
        seen = self._bench.measure(transport, injection.drive, load, kinds, injection)
        return [Verdict.of(cell, base[cell.kind], seen[cell.kind]) for cell in cells]

    def _base(self, transport: str, drive: str, load: plan.Load, kinds: Sequence[Kind], anew: bool) -> Seens:
        """The same commands with nothing injected: of an earlier row, when that had the same."""
        found = self._bases.setdefault((transport, drive, load), {})
        missing = [kind for kind in kinds if anew or kind not in found]
        if missing:
            found.update(self._bench.measure(transport, drive, load, missing, None))
        return found


def run_all(bed: Bed, scope: Scope, wanted: Sequence[str]) -> None:
    """All cells, and then the table is written into the document; or those only whose name has each of the pieces wanted."""
    cells = [cell for cell in plan.all_cells() if all(piece in cell.name for piece in wanted)]
    lab = Lab.prepare_paired(bed, scope)
    since = time.monotonic()
    verdicts = Matrix(lab.bed, scope).run(cells)
    scope.say(f"{len(cells)} cells in {(time.monotonic() - since) / 60:.0f} min")
    if not wanted:
        measured = {verdict.cell for verdict in verdicts}
        table.write(_DOCUMENT, bed.facts.releases, verdicts, [cell for cell in cells if cell not in measured])
