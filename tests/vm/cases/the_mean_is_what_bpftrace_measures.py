# SPDX-License-Identifier: GPL-2.0-or-later
"""The latency mean, against an independent bpftrace script over the same interval in the same run.

Both see a bio submitted to the namespace's device and its request completed. Programs on one tracepoint run in the order
they were attached, so the second one's times are later by what the first takes: at the end of the interval by some
4 us more than at its beginning, which is 1 % of a 4 KiB read here, for ntprof first (bpftrace then measures more) and for
bpftrace first (less) alike.
"""

from __future__ import annotations

import contextlib
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass

from support import fio
from support.fio import KINDS, READ_128K, READ_4K, WRITE_1M, WRITE_4K, WRITE_64K, Kind, Load
from support.lab import Lab
from support.ntprofctl import recorded, session

_COUNTS = {READ_4K: 500, WRITE_4K: 500, WRITE_64K: 200, WRITE_1M: 50, READ_128K: 200}

# The drive's own requests have the same sectors as the host's: one namespace on the whole of it.
_SCRIPT = """
tracepoint:block:block_bio_queue /args->dev == {namespace}/ {{ @start[args->sector] = nsecs; }}
tracepoint:block:block_rq_complete /args->dev != {drive} && @start[args->sector]/ {{
  @sum[args->rwbs, args->nr_sector] = sum(nsecs - @start[args->sector]);
  @count[args->rwbs, args->nr_sector] = count();
  delete(@start[args->sector]);
}}
BEGIN {{ printf("ready\\n"); }}
END {{ clear(@start); }}
"""
_FILE = "/run/latency.bt"
_OUTPUT = "/run/latency.out"


@dataclass
class Measured:
    """By kind: how many, mean ns."""

    counts: dict[tuple[str, int], int]
    sums: dict[tuple[str, int], int]

    def of(self, kind: Kind) -> tuple[int, float]:
        key = (kind.op, kind.size)
        count = self.counts.get(key, 0)
        return count, self.sums[key] / count if count else 0.0


def _device(lab: Lab, name: str) -> int:
    """As the kernel's dev_t: the tracepoints print that."""
    major, minor = lab.host.read_file(f"/sys/block/{name}/dev").decode().split(":")
    return int(major) << 20 | int(minor)


def _parse(output: str) -> Measured:
    def table(name: str) -> dict[tuple[str, int], int]:
        found = re.findall(rf"^@{name}\[(\w+), (\d+)\]: (\d+)$", output, re.MULTILINE)
        return {("read" if "R" in rwbs else "write", int(sectors) * 512): int(value) for rwbs, sectors, value in found}
    return Measured(table("count"), table("sum"))


@contextlib.contextmanager
def _bpftrace(lab: Lab) -> Iterator[Measured]:
    """Measures while the block runs; the result is filled in at its end."""
    drive = lab.host.sh("cd /sys/block; ls -d nullb0 nullb_bed 2>/dev/null || true").stdout.split()[0]
    lab.host.write_file(_FILE, _SCRIPT.format(namespace=_device(lab, lab.namespace), drive=_device(lab, drive)))
    running = lab.host.start(["bash", "-c", f"exec bpftrace {_FILE} > {_OUTPUT} 2>&1"])
    result = Measured({}, {})
    try:
        lab.host.sh(f"for _ in $(seq 600); do ! grep -q ready {_OUTPUT} 2>/dev/null || exit 0; sleep 0.1; done; "
                    f"cat {_OUTPUT} >&2; exit 1")
        yield result
    finally:
        running.signal(signal.SIGINT)
        running.wait(60)
    measured = _parse(lab.host.read_file(_OUTPUT).decode())
    result.counts, result.sums = measured.counts, measured.sums


def run(lab: Lab) -> None:
    with lab.scope.test("the mean latency of each kind is within 2 % of what bpftrace measures in the same run") as test:
        with session(lab.host, lab.namespace) as recording, _bpftrace(lab) as independent:
            fio.run(lab.host, lab.namespace, [Load(kind, count) for kind, count in _COUNTS.items()])
        report = recorded(recording)
        for kind in KINDS:
            count, mean_ns = independent.of(kind)
            group = report.group(kind)
            test.equal(f"{kind.name}: commands, against bpftrace's", group.commands, count)
            test.within(f"{kind.name}: mean latency, against bpftrace's", group.mean_ns / 1e3, mean_ns / 1e3, share=0.02,
                        unit="us")
            test.note(f"{kind.name}: {group.mean_ns / 1e3:.1f} us, by bpftrace {mean_ns / 1e3:.1f} us, "
                      f"{group.mean_ns / mean_ns - 1 if mean_ns else 0:+.2%}")
