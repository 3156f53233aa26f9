# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest's serial console on this terminal."""

from __future__ import annotations

import os
import select
import socket
import sys
import termios
import tty
from pathlib import Path

_LEAVE = b"\x1d"


def attach(path: Path) -> None:
    """Connect the terminal to the console until Ctrl-] is typed or the machine ends."""
    print("connected; Ctrl-] leaves, Enter shows a prompt", file=sys.stderr)
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    with socket.socket(socket.AF_UNIX) as console:
        console.connect(str(path))
        tty.setraw(terminal)
        try:
            while True:
                ready = select.select([terminal, console], [], [])[0]
                if console in ready:
                    data = console.recv(65536)
                    if not data:
                        return
                    os.write(sys.stdout.fileno(), data)
                if terminal in ready:
                    data = os.read(terminal, 4096)
                    if not data or _LEAVE in data:
                        return
                    console.sendall(data)
        finally:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)
            print(file=sys.stderr)
