# SPDX-License-Identifier: GPL-2.0-or-later
"""What a target serves from: dm, md, a file with and without the page cache, a controller that commands are passed through to.

They are namespaces of one subsystem, and there is I/O on the others while one is recorded. Below them is a drive of 5 ms: it
must show in storage, and the drive's own part is right or said not to be visible.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from support import fio
from support.checks import Test
from support.exports import array, connected, exported, files_on, mapped, namespace, null_drive
from support.fio import KIB, READ_4K, READ_128K, WRITE_4K, WRITE_64K, Kind, Load
from support.kinds import check_all, drive_of
from support.lab import Lab
from support.ntprofctl import recorded, session
from support.report import Report

_SLOW_NS = 5_000_000
_LOADS = [Load(READ_4K, 10), Load(WRITE_4K, 10), Load(WRITE_64K, 10), Load(READ_128K, 10)]
# A kind that only the namespaces get that are not recorded.
_ELSEWHERE = Kind("12 KiB reads", "read", 12 * KIB, "randread")


@dataclass(frozen=True)
class Drive:
    """What a namespace is on."""

    name: str
    device: str
    slow: bool = True
    """Each command waits for the drive of 5 ms."""
    visible: bool = False
    """The drive's own time is told."""


@contextlib.contextmanager
def _drives(lab: Lab) -> Iterator[list[Drive]]:
    with contextlib.ExitStack() as stack:
        nulls = [stack.enter_context(null_drive(lab, f"nullb_below{n}", completion_nsec=_SLOW_NS)) for n in range(3)]
        pieces = stack.enter_context(null_drive(lab, "nullb_pieces", completion_nsec=_SLOW_NS))
        lab.target.sh('echo 16 > "/sys/block/${1#/dev/}/queue/max_sectors_kb"', pieces)
        linear = stack.enter_context(mapped(lab, "linear", f"0 131072 linear {nulls[0]} 0"))
        mirror = stack.enter_context(array(lab, "raid1", linear, nulls[1]))
        # Two: nvmet takes a read that finds only a part in the page cache for an error (its first attempt is IOCB_NOWAIT), and
        # writes past the cache to the same file take parts out, since 6.16 whole folios of ext4's.
        direct, cached = stack.enter_context(files_on(lab, nulls[2], "direct", "cached"))
        yield [
            Drive("md and dm", mirror),
            Drive("a drive that takes 16 KiB at once", pieces, visible=True),
            Drive("a file", direct),
            Drive("a file through the page cache", f"buffered:{cached}", slow=False),
        ]


def _check(test: Test, drive: Drive, report: Report) -> None:
    test.equal("commands of the session, against fio's I/Os", report.commands, sum(load.count for load in _LOADS))
    check_all(test, report)
    for load in _LOADS:
        group, name = report.group(load.kind), load.kind.name
        storage, own = group.stages["storage"], drive_of(group)
        test.equal(f"{name}: commands", group.commands, load.count)
        test.note(f"{name}: storage {storage / 1e3:,.0f} us, drive {'not visible' if own is None else f'{own / 1e3:,.0f} us'}")
        if drive.slow:
            test.at_least(f"{name}: storage", storage / 1e6, 5, "ms")
            test.equal(f"{name}: largest stage", group.largest, "storage")
        else:
            test.at_most(f"{name}: storage", storage / 1e6, 4, "ms")
        if not test.equal(f"{name}: the drive is visible", own is not None, drive.visible) or own is None:
            continue
        test.within(f"{name}: drive", own / 1e6, 5, share=0.05, margin=0.3, unit="ms")


_CONTROLLER = """
for controller in /sys/class/nvme/nvme*; do
  if [ "$(cat "$controller/transport")" = pcie ]; then echo "/dev/${controller##*/}"; fi
done
"""


def _check_passthru(lab: Lab) -> None:
    controller = lab.host.sh(_CONTROLLER).stdout.strip()
    with lab.scope.test("commands that are passed through to a controller: each is joined, and the drive is said not to be "
                        "visible") as test, namespace(lab, "passthru", f"passthru:{controller}") as device:
        with session(lab.host, device, "all", "--detail") as recording:
            fio.run(lab.host, device, _LOADS)
        report = recorded(recording)
        test.equal("commands of the session, against fio's I/Os", report.commands, sum(load.count for load in _LOADS))
        check_all(test, report)
        for load in _LOADS:
            test.equal(f"{load.kind.name}: drive", drive_of(report.group(load.kind)), None)


def run(lab: Lab) -> None:
    with _drives(lab) as drives, exported(lab, "drives", [drive.device for drive in drives]) as nqn, \
            connected(lab, nqn, namespaces=len(drives)) as devices:
        for drive, device in zip(drives, devices, strict=True):
            with lab.scope.test(f"{drive.name}: only this namespace's commands are counted, each is joined, and the drive of "
                                "5 ms shows in storage") as test:
                with session(lab.host, device, "all", "--detail") as recording:
                    elsewhere = [fio.start(lab.host, other, [Load(_ELSEWHERE, 5)]) for other in devices if other != device]
                    fio.run(lab.host, device, _LOADS)
                    for load in elsewhere:
                        load.wait(120).check()
                _check(test, drive, recorded(recording))
    if lab.target.sh("grep -qw nvmet_passthru_execute_cmd /proc/kallsyms", check=False).status == 0:
        _check_passthru(lab)
    else:
        lab.scope.say("passthru: this kernel's nvmet was built without it (CONFIG_NVME_TARGET_PASSTHRU)")
