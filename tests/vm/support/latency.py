# SPDX-License-Identifier: GPL-2.0-or-later
"""Latency by an independent bpftrace script: from a bio submitted to the namespace's device to its request completed."""

from __future__ import annotations

import contextlib
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass

from bed.machine import Machine

from .checks import Test
from .fio import Kind
from .report import Report

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
    """By kind: how many, sum of ns."""

    counts: dict[tuple[str, int], int]
    sums: dict[tuple[str, int], int]

    def of(self, kind: Kind) -> tuple[int, float]:
        """How many, mean ns."""
        key = (kind.op, kind.size)
        count = self.counts.get(key, 0)
        return count, self.sums[key] / count if count else 0.0


def _device(machine: Machine, name: str) -> int:
    """As the kernel's dev_t: the tracepoints print that."""
    major, minor = machine.read_file(f"/sys/block/{name}/dev").decode().split(":")
    return int(major) << 20 | int(minor)


def _parse(output: str) -> Measured:
    def table(name: str) -> dict[tuple[str, int], int]:
        found = re.findall(rf"^@{name}\[(\w+), (\d+)\]: (\d+)$", output, re.MULTILINE)
        return {("read" if "R" in rwbs else "write", int(sectors) * 512): int(value) for rwbs, sectors, value in found}
    return Measured(table("count"), table("sum"))


@contextlib.contextmanager
def measured(machine: Machine, namespace: str, drive: str) -> Iterator[Measured]:
    """Measures while the block runs; the result is filled in at its end. drive: the block device that the target of that
    namespace serves it from, when it is this machine."""
    machine.write_file(_FILE, _SCRIPT.format(namespace=_device(machine, namespace), drive=_device(machine, drive)))
    # By itself it finds a kernel's BTF by what the kernel says of BTF objects since 5.11 (bpf_btf_info.kernel_btf).
    running = machine.start(["bash", "-c", f"BPFTRACE_BTF=/sys/kernel/btf/vmlinux exec bpftrace {_FILE} > {_OUTPUT} 2>&1"])
    result = Measured({}, {})
    try:
        machine.sh(f"for _ in $(seq 600); do ! grep -q ready {_OUTPUT} 2>/dev/null || exit 0; sleep 0.1; done; "
                   f"cat {_OUTPUT} >&2; exit 1")
        yield result
    finally:
        running.signal(signal.SIGINT)
        running.wait(60)
    found = _parse(machine.read_file(_OUTPUT).decode())
    result.counts, result.sums = found.counts, found.sums


def compare(test: Test, report: Report, kind: Kind, independent: Measured, share: float = 0.02) -> None:
    """The report's mean of a kind is bpftrace's, give or take a share."""
    count, mean_ns = independent.of(kind)
    group = report.group(kind)
    test.equal(f"{kind.name}: commands, against bpftrace's", group.commands, count)
    test.within(f"{kind.name}: mean latency, against bpftrace's", group.mean_ns / 1e3, mean_ns / 1e3, share=share, unit="us")
    test.note(f"{kind.name}: {group.mean_ns / 1e3:.1f} us, by bpftrace {mean_ns / 1e3:.1f} us, "
              f"{group.mean_ns / mean_ns - 1 if mean_ns else 0:+.2%}")
