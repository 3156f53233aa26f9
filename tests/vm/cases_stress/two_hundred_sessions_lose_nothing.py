# SPDX-License-Identifier: GPL-2.0-or-later
"""Attached and detached two hundred times while fio reads, writes and verifies."""

from __future__ import annotations

from cases.attaching_under_load_loses_nothing import cycle
from support.lab import Lab

_SESSIONS = 200


def run(lab: Lab) -> None:
    cycle(lab, _SESSIONS)
