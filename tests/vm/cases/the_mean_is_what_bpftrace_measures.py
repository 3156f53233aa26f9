# SPDX-License-Identifier: GPL-2.0-or-later
"""The latency mean, against an independent bpftrace script over the same interval in the same run.

Both see a bio submitted to the namespace's device and its request completed. Programs on one tracepoint run in the order
they were attached, so the second one's times are later by what the first takes: at the end of the interval by some
4 us more than at its beginning, which is 1 % of a 4 KiB read here, for ntprof first (bpftrace then measures more) and for
bpftrace first (less) alike.
"""

from __future__ import annotations

from support import fio, latency
from support.fio import KINDS, READ_4K, READ_128K, WRITE_1M, WRITE_4K, WRITE_64K, Load
from support.lab import Lab
from support.ntprofctl import recorded, session

_COUNTS = {READ_4K: 500, WRITE_4K: 500, WRITE_64K: 200, WRITE_1M: 50, READ_128K: 200}


def run(lab: Lab) -> None:
    with lab.scope.test("the mean latency of each kind is within 2 % of what bpftrace measures in the same run") as test:
        drive = lab.host.sh("cd /sys/block; ls -d nullb0 nullb_bed 2>/dev/null || true").stdout.split()[0]
        with session(lab.host, lab.namespace) as recording, latency.measured(lab.host, lab.namespace, drive) as independent:
            fio.run(lab.host, lab.namespace, [Load(kind, count) for kind, count in _COUNTS.items()])
        report = recorded(recording)
        for kind in KINDS:
            latency.compare(test, report, kind, independent)
