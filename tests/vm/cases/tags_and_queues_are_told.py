# SPDX-License-Identifier: GPL-2.0-or-later
"""Few tags show as the wait for a tag; the queue depth by the stages is the kernel's own count; and which queue, processor,
size and process commands are of is told by the views.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from support import fio
from support.checks import Test
from support.exports import namespace, null_drive
from support.fio import KIB, READ_4K, WRITE_4K, Kind
from support.lab import Lab
from support.ntprofctl import recorded, session
from support.report import Report

_THREADS = 60
_TAGS = 15
"""Of a queue of 16, the smallest that the kernel's host makes: one is never used."""
_TAGS_DRIVE_NS = 50_000_000
"""So long that what so many threads wait for the one processor is little beside it."""
_DRIVE_NS = 5_000_000
_COUNT = 720

# As where a controller has several queues: with a scheduler, a request has no tag of the driver's while it waits there.
_NO_SCHEDULER = """
name=${1%n1}
queue=/sys/block/${name}c${name#nvme}n1/queue
echo none > "$queue/scheduler"
echo 2 > "$queue/nomerges"
"""


@contextlib.contextmanager
def _exported(lab: Lab, name: str, drive_ns: int, *options: str) -> Iterator[str]:
    """The host's block device of a drive that takes so long, connected with these options."""
    with null_drive(lab, f"nullb_{name}", completion_nsec=drive_ns) as drive, namespace(lab, name, drive, *options) as device:
        lab.host.sh(_NO_SCHEDULER, device)
        yield device


def _load(device: str, kind: Kind, count: int, threads: int = 1, *more: str, program: str = "fio") -> list[str]:
    return [program, "--output-format=json", "--name=load", f"--filename=/dev/{device}", "--ioengine=libaio", "--direct=1",
            "--thread", f"--numjobs={threads}", "--group_reporting", f"--rw={kind.way}", f"--bs={kind.size}",
            f"--size={fio.MIB}", f"--io_size={count // threads * kind.size}", "--norandommap", "--randseed=1", *more]


def _depths_agree(test: Test, what: str, report: Report) -> None:
    depths = report.data["queue_depth"]
    if test.true(f"{what}: the kernel's queue depth", depths["diskstats"]):
        stages, kernel = depths["from_stages"], depths["diskstats"]["avg_qd"]
        test.within(f"{what}: queue depth by the stages, against the kernel's", stages, kernel, share=0.05)
        test.note(f"{what}: queue depth {stages:.4f} by the stages, {kernel:.4f} by diskstats")


def _few_tags(lab: Lab) -> None:
    with lab.scope.test(f"{_THREADS} threads with {_TAGS} tags: what is not under way waits for a tag, and that is the "
                        "largest") as test:
        with _exported(lab, "tags", _TAGS_DRIVE_NS, "--queue-size=16", "--nr-io-queues=1") as device:
            with session(lab.host, device, "all", "--detail") as recording:
                job = lab.host.run(_load(device, READ_4K, _COUNT, _THREADS), check=True, timeout=300).json()["jobs"][0]["read"]
            report = recorded(recording)
        group = report.group(READ_4K)
        waited = group.component("host_block", "tag_wait").mean_ns
        # Whoever is not one of the 15 waits: all the time but the drive's. (By Little's law that would be 45/60 of it, were there
        # always 60: they begin one after the other.)
        latency = job["lat_ns"]["mean"]
        test.equal("commands", group.commands, job["total_ios"])
        test.at_least("latency by fio, of the drive's time", latency / _TAGS_DRIVE_NS, 2)
        test.within("wait for a tag, of the latency", waited / group.mean_ns, 1 - _TAGS_DRIVE_NS / latency, share=0.1)
        test.equal("largest stage", group.largest, "host_block")
        test.note(f"wait for a tag {waited / 1e3:.0f} us of {group.mean_ns / 1e3:.0f} us")
        _depths_agree(test, "with few tags", report)


_SYNCED = ["--fdatasync=4"]
_DEPTHS: tuple[tuple[str, Kind, list[str]], ...] = (
    ("reads", READ_4K, ["--iodepth=8"]),
    ("writes", WRITE_4K, ["--iodepth=8"]),
    ("reads and writes", Kind("mixed", "read", 4 * KIB, "randrw"), ["--iodepth=8"]),
    ("FUA writes", WRITE_4K, ["--iodepth=4", "--sync=dsync"]),
    ("writes and flushes", WRITE_4K, _SYNCED),
)


def _depths(lab: Lab) -> None:
    with lab.scope.test("the queue depth by the stages is that of the kernel's diskstats, within 5 %, for each kind of "
                        "command") as test:
        for what, kind, options in _DEPTHS:
            # Of the slow drive: what the two do not count alike, where a command begins and ends, is little of 5 ms.
            with session(lab.host, lab.slow_namespace) as recording:
                lab.host.run(_load(lab.slow_namespace, kind, 300, 1, *options), check=True, timeout=300)
            _depths_agree(test, what, recorded(recording))


def _rows(report: Report, view: str) -> list[dict[str, Any]]:
    return list(report.data["views"][view])


@contextlib.contextmanager
def _named(lab: Lab, *names: str) -> Iterator[list[str]]:
    """Programs that are fio, by other names."""
    paths = [f"/run/{name}" for name in names]
    lab.host.sh('for path; do ln -sf "$(command -v fio)" "$path"; done', *paths)
    try:
        yield paths
    finally:
        lab.host.sh('rm -f "$@"', *paths)


def _views(lab: Lab) -> None:
    reads, writes = 200, 100
    with lab.scope.test("a queue for reads and one for writes: each has its commands, and so has each process, size and "
                        "processor") as test:
        with _named(lab, "reader", "writer") as (reader, writer), \
                _exported(lab, "queues", _DRIVE_NS, "--nr-io-queues=1", "--nr-write-queues=1") as device:
            with session(lab.host, device) as recording:
                loads = [lab.host.start(_load(device, READ_4K, reads, program=reader)),
                         lab.host.start(_load(device, Kind("8 KiB", "write", 8 * KIB, "randwrite"), writes, program=writer))]
                for load in loads:
                    load.wait(300).check()
        report = recorded(recording)
        queues = _rows(report, "queue")
        test.equal("commands by queue", sorted(row["commands"] for row in queues), [writes, reads])
        test.equal("queues", len({row["qid"] for row in queues}), 2)
        by_process = {row["comm"]: row for row in _rows(report, "process")}
        test.equal("commands by process", {comm: row["commands"] for comm, row in by_process.items()},
                   {"reader": reads, "writer": writes})
        test.equal("processes", len({row["tgid"] for row in by_process.values()}), 2)
        test.equal("commands by size", {row["size_bytes"]: row["commands"] for row in _rows(report, "size")},
                   {4 * KIB: reads, 8 * KIB: writes})
        test.equal("commands by processor", [(row["cpu"], row["commands"]) for row in _rows(report, "cpu")],
                   [(0, reads + writes)])
        for row in queues:
            test.at_least(f"mean latency of queue {row['qid']}", row["latency"]["mean_ns"] / 1e3, _DRIVE_NS / 1e3, "us")
            for cores in ("host_cores", "response_cores", "target_cores"):
                test.equal(f"{cores} of queue {row['qid']}", (row[cores] or {}).get("list"), "0")


def run(lab: Lab) -> None:
    _few_tags(lab)
    _depths(lab)
    _views(lab)
