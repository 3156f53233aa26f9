# SPDX-License-Identifier: GPL-2.0-or-later
"""So that beds go down when a program is told to end."""

from __future__ import annotations

import signal
from typing import NoReturn


def _terminated(*_: object) -> NoReturn:
    raise SystemExit(128 + signal.SIGTERM)


def end_on_sigterm() -> None:
    """SIGTERM raises SystemExit, which leaves every `with Bed.up(...)`."""
    signal.signal(signal.SIGTERM, _terminated)
