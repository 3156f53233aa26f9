# SPDX-License-Identifier: GPL-2.0-or-later
"""What users do to a namespace, all in one session: small, large, split and merged requests by four interfaces, flushes, FUA
writes, discards, write zeroes, a file system's, and a passthrough that is not measured. The kernel's own count of commands by
opcode is the truth.
"""

from __future__ import annotations

from support import fio
from support.checks import Test
from support.exports import namespace, null_drive
from support.fio import KIB, MIB
from support.kinds import check_all, flushes, of_op
from support.lab import Lab
from support.ntprofctl import recorded, session
from support.report import Report
from support.setup_count import kernel_counts

_COMMANDS = 64
_LARGE = 8 * MIB
_OPCODES = {"flush": 0, "write": 1, "read": 2, "write_zeroes": 8, "discard": 9}

# fio's job, and how many bytes it moves.
_JOBS = {
    "512 B": (["--rw=randread", "--bs=512", "--ioengine=psync", f"--number_ios={_COMMANDS}"], 512 * _COMMANDS),
    "io_uring": (["--rw=randread", "--bs=8k", "--ioengine=io_uring", "--iodepth=4", f"--number_ios={_COMMANDS}"],
                 8 * KIB * _COMMANDS),
    "8 MiB": (["--rw=read", f"--bs={_LARGE}", "--ioengine=libaio", "--iodepth=2", "--number_ios=4"], 4 * _LARGE),
    "FUA": (["--rw=randwrite", "--bs=4k", "--ioengine=libaio", "--sync=dsync", f"--number_ios={_COMMANDS}"],
            4 * KIB * _COMMANDS),
    "fdatasync": (["--rw=randwrite", "--bs=16k", "--ioengine=psync", "--fdatasync=1", f"--number_ios={_COMMANDS}"],
                  16 * KIB * _COMMANDS),
    "merged": (["--rw=write", "--bs=4k", "--ioengine=libaio", "--iodepth=32", "--iodepth_batch_submit=32",
                "--iodepth_batch_complete_min=32", f"--number_ios={_COMMANDS * 8}"], 4 * KIB * _COMMANDS * 8),
}

_SCRIPT = """
blkdiscard --step 64k --length 1M "/dev/$1"
blkdiscard --zeroout --step 32k --length 1M "/dev/$1"
dd if=/dev/zero of="/dev/$1" bs=1M count=4 conv=fsync status=none
"""

_FILES = """
mkdir -p /tmp/kinds
mount "/dev/$1" /tmp/kinds
for n in 1 2 3 4 5 6 7 8; do dd if=/dev/zero of=/tmp/kinds/$n bs=4k count=4 conv=fsync status=none; done
umount /tmp/kinds
rmdir /tmp/kinds
"""


def _fio(lab: Lab, device: str, name: str) -> None:
    options, _ = _JOBS[name]
    direct = ["--direct=1", f"--size={32 * MIB}", "--norandommap", "--randseed=1", "--thread", "--output-format=json"]
    lab.host.run(["fio", f"--filename=/dev/{device}", f"--name={name}", *direct, *options], check=True)


def _passthrough(lab: Lab, device: str) -> None:
    generic = f"/dev/{device.replace('nvme', 'ng', 1)}"
    if lab.host.run(["test", "-c", generic]).status == 0:
        lab.host.run(["fio", f"--filename={generic}", "--name=passthrough", "--ioengine=io_uring_cmd", "--cmd_type=nvme",
                      "--rw=read", "--bs=4k", f"--size={4 * KIB * _COMMANDS}"], check=True)
    else:   # before 5.13: by ioctl
        lab.host.sh('for n in $(seq "$2"); do nvme read "/dev/$1" --start-block=$((n * 8)) --block-count=7 --data-size=4096 '
                    '--data=/dev/null; done >&2', device, str(_COMMANDS))


def _measure(lab: Lab, device: str) -> tuple[Report, dict[int, int]]:
    lab.host.sh('for merges in /sys/block/nvme*/queue/nomerges; do echo 0 > "$merges"; done; mkfs.ext4 -q "/dev/$1"', device)
    try:
        with kernel_counts(lab.host, device) as counts, session(lab.host, device, "all", "--detail") as recording:
            lab.host.sh(_FILES, device)
            for name in _JOBS:
                _fio(lab, device, name)
            lab.host.sh(_SCRIPT, device)
            _passthrough(lab, device)
    finally:
        lab.host.sh('for merges in /sys/block/nvme*/queue/nomerges; do echo 2 > "$merges"; done')
    return recorded(recording), counts


def _counted(test: Test, report: Report, counts: dict[int, int]) -> None:
    for op, opcode in _OPCODES.items():
        beside = report.beside.get("passthrough", 0) if op == "read" else 0
        test.equal(f"{op} commands, against the kernel's count", sum(g.commands for g in of_op(report, op)) + beside,
                   counts.get(opcode, 0))
    test.equal("other opcodes", sorted(set(counts) - set(_OPCODES.values())), [])
    test.equal("passthrough commands", report.beside.get("passthrough"), _COMMANDS)


def _wait_for_flushes(test: Test, lab: Lab, device: str) -> None:
    """Four processes that flush at the same time, on a drive of 5 ms."""
    with session(lab.host, device, "all", "--detail") as recording:
        lab.host.run(["fio", f"--filename=/dev/{device}", "--name=flushes", "--ioengine=psync", "--direct=1", "--rw=randwrite",
                      "--bs=4k", f"--size={32 * MIB}", "--fdatasync=1", "--numjobs=4", "--number_ios=10"], check=True)
    report = recorded(recording)
    check_all(test, report)
    flush = flushes(report)
    tag_wait, dispatch = (flush.component("host_block", part).mean_ns / 1e6 for part in ("tag_wait", "dispatch"))
    test.note(f"{flush.commands} flushes of 40 fsyncs: wait for a tag {tag_wait:.2f} ms, dispatch {dispatch:.2f} ms")
    test.at_least("flushes", flush.commands, 10)
    test.at_most("flushes: each serves all who wait", flush.commands, 40)
    test.within("drive", flush.component("storage", "drive").mean_ns / 1e6, 5, share=0.05, margin=0.1, unit="ms")
    test.at_least("dispatch of a flush, which is the wait for the one before it", dispatch, 0.5, "ms")
    test.at_most("wait for a tag", tag_wait, 0.5, "ms")


def run(lab: Lab) -> None:
    with null_drive(lab, "nullb_kinds", blocksize=512, cache_size=16, discard=1) as drive, \
            namespace(lab, "kinds", drive) as device:
        with lab.scope.test("every interface, size and operation: the kernel's counts by opcode are the report's, each command "
                            "is joined, passthrough is named") as test:
            report, counts = _measure(lab, device)
            _counted(test, report, counts)
            check_all(test, report)
        with lab.scope.test("requests longer than the device takes, and merged ones: their bytes are all there, and the wait "
                            "for a tag is known of every piece") as test:
            for group in report.groups:
                group.component("host_block", "tag_wait")
            expected = sum(size for name, (options, size) in _JOBS.items() if any("read" in option for option in options[:1]))
            moved = sum(g.commands * g.data["size_bytes"] for g in of_op(report, "read"))
            test.note(f"{moved / MIB:.1f} MiB read by {sum(g.commands for g in of_op(report, 'read'))} commands")
            test.at_least("bytes read, in MiB", moved / MIB, expected / MIB)
        with lab.scope.test("a flush of an fsync is a group of its own, with its drive; FUA writes are another") as test:
            flush = flushes(report)
            test.at_least("flushes", flush.commands, _COMMANDS)
            depth = report.data["queue_depth"]
            test.within("queue depth by the stages, against diskstats'", depth["from_stages"], depth["diskstats"]["avg_qd"],
                        share=0.05, margin=0.01)
            test.at_least("drive of a flush", flush.component("storage", "drive").mean_ns / 1e3, 95, "us")
            fua = [g for g in of_op(report, "write") if g.data.get("fua")]
            test.at_least("FUA writes of 4 KiB", sum(g.commands for g in fua if g.data["size_bytes"] == 4 * KIB), _COMMANDS)
            plain = [g for g in of_op(report, "write") if not g.data.get("fua") and g.data["size_bytes"] == 16 * KIB]
            test.at_least("other writes of 16 KiB", sum(g.commands for g in plain), _COMMANDS)
    with lab.scope.test("flushes that wait for a running one: the wait is in dispatch, not the wait for a tag; the drive shows "
                        "too") as test, null_drive(lab, "nullb_flush", cache_size=16, completion_nsec=5_000_000) as drive, \
            namespace(lab, "flush", drive) as device:
        _wait_for_flushes(test, lab, device)
