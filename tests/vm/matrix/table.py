# SPDX-License-Identifier: GPL-2.0-or-later
"""The matrix as a table: for the terminal, and as docs/ground-truth.md has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from .plan import INJECTIONS, TRANSPORTS, Cell
from .verdict import Verdict

_HEAD = ("cell", "injected us", "right rows", "reported us", "share", "largest", "ok")
BEGIN, END = "<!-- begin: written by ./dev test vm --matrix -->", "<!-- end -->"


def _cells(verdict: Verdict) -> tuple[str, ...]:
    rows = [f"{row} {'?' if ns is None else format(ns / 1e3, '.0f')}" for row, ns in verdict.reported_ns.items()]
    total = sum(ns or 0 for ns in verdict.reported_ns.values())
    return (verdict.cell.name, f"{verdict.injected_ns / 1e3:.0f}", ", ".join(rows), f"{total / 1e3:.0f}",
            f"{verdict.share:.1%}", verdict.largest, "ok" if verdict.good else "NO")


def text(verdicts: Sequence[Verdict]) -> str:
    rows = [_HEAD, *map(_cells, verdicts)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    right = {1, 3, 4}
    lines = ["  ".join(cell.rjust(width) if i in right else cell.ljust(width)
                       for i, (cell, width) in enumerate(zip(row, widths, strict=True))).rstrip() for row in rows]
    good = sum(verdict.good for verdict in verdicts)
    return "\n".join([*lines, f"{good} of {len(verdicts)} cells right"])


def _markdown(verdicts: Sequence[Verdict], transport: str) -> list[str]:
    lines = [f"### NVMe/{transport.upper()}", ""]
    for injection in INJECTIONS:
        mine = [v for v in verdicts if v.cell.transport == transport and v.cell.injection is injection]
        if not mine:
            continue
        lines += [f"{injection.title[0].upper()}{injection.title[1:]}:", "",
                  "| commands | injected us | right rows, what each grew by (us) | reported us | share | largest row | ok |",
                  "| --- | ---: | --- | ---: | ---: | --- | --- |"]
        for verdict in mine:
            _, *rest = _cells(verdict)
            lines.append(f"| {verdict.cell.kind_name} | " + " | ".join(rest) + " |")
        lines.append("")
    return lines


def write(file: Path, releases: Mapping[str, str], verdicts: Sequence[Verdict], missing: Sequence[Cell]) -> None:
    """Put the table between the marks of the file; the rest is by hand."""
    good = sum(verdict.good for verdict in verdicts)
    lines = [f"{date.today()}, host {releases['host']}, target {releases['target']}: {good} of {len(verdicts) + len(missing)} "
             "cells right.", ""]
    for transport in TRANSPORTS:
        lines += _markdown(verdicts, transport)
    lines += [f"- not measured: {cell.name}" for cell in missing]
    whole = file.read_text()
    before, rest = whole.split(BEGIN, maxsplit=1)
    after = rest.split(END, maxsplit=1)[1]
    file.write_text(before + BEGIN + "\n" + "\n".join(lines).rstrip() + "\n" + END + after)
