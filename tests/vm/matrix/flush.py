# SPDX-License-Identifier: GPL-2.0-or-later
"""In the host: flush a device so many times, one after the other; how long each took, by the clock here, as JSON.

    flush.py DEVICE COUNT THINK_US GO

GO is a file that is there from when the first is about to begin until the last has ended.
"""

import json
import os
import sys
import time
from pathlib import Path

device, count, think_us, go = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
descriptor = os.open(device, os.O_RDWR)
Path(go).touch()
took = []
for _ in range(count):
    since = time.monotonic_ns()
    os.fsync(descriptor)
    took.append(time.monotonic_ns() - since)
    time.sleep(think_us / 1e6)
Path(go).unlink()
print(json.dumps({"ios": count, "lat_ns": sum(took) / count}))
