# SPDX-License-Identifier: GPL-2.0-or-later
"""In a machine: take the processor in bursts, while the file GO is there, once it is. burner.py GO BUSY_MS FREE_MS"""

import sys
import time
from pathlib import Path

go, busy, free = Path(sys.argv[1]), int(sys.argv[2]) / 1e3, int(sys.argv[3]) / 1e3
while not go.exists():
    time.sleep(0.02)
while go.exists():
    until = time.monotonic() + busy
    while time.monotonic() < until:
        pass
    time.sleep(free)
