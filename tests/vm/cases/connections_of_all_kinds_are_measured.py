# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of nvme connect: digests, no flow control of the submission queue (then a read has no response), queues of their own
for writes and for polling. A drive of 5 ms must show in storage with each of them, and after more connections than the
programs can remember.
"""

from __future__ import annotations

from support import fio
from support.checks import Test
from support.exports import connected, exported, null_drive
from support.fio import KIB, READ_4K, READ_128K, WRITE_4K, WRITE_64K, Kind, Load
from support.kinds import check_all
from support.lab import Lab
from support.ntprofctl import recorded, session
from support.report import Report

_SLOW_NS = 5_000_000
_LOADS = [Load(READ_4K, 20), Load(READ_128K, 10), Load(WRITE_4K, 20), Load(WRITE_64K, 10)]
_POLLED = Kind("polled 8 KiB reads", "read", 8 * KIB, "randread")
_POLLED_COUNT = 20

_OPTIONS = {
    "no flow control of the submission queue": ["--disable-sqflow"],
    "no flow control, and data digests": ["--disable-sqflow", "--data-digest"],
    "header and data digests": ["--hdr-digest", "--data-digest"],
    "header digests, queues for writes and for polling": ["--hdr-digest", "--nr-io-queues=1", "--nr-write-queues=1",
                                                          "--nr-poll-queues=1"],
}


# As so many queues would that are no more.
_FILL = """
for id in $(bpftool map show --json | jq '.[] | select(.name == "queues") | .id'); do
  bpftool map show id "$id" --json | python3 -c '
import json, struct, sys
queues = json.load(sys.stdin)
value = " ".join(["0"] * queues["bytes_value"])
for number in range(queues["max_entries"] + 100):
    key = " ".join(map(str, struct.pack("<Q", 0xffff888000000000 + number * 4096)))
    print("map update id", queues["id"], "key", key, "value", value)
' > /tmp/fill
  bpftool batch file /tmp/fill >&2
  echo filled
done
"""


def _poll(lab: Lab, device: str) -> None:
    lab.host.run(["fio", f"--filename=/dev/{device}", "--name=polled", "--ioengine=io_uring", "--hipri", "--direct=1",
                  f"--rw={_POLLED.way}", f"--bs={_POLLED.size}", f"--size={fio.REGION}", f"--number_ios={_POLLED_COUNT}"],
                 check=True)


def _check(test: Test, report: Report, loads: list[Load]) -> None:
    test.equal("commands of the session, against fio's I/Os", report.commands, sum(load.count for load in loads))
    check_all(test, report)
    for load in loads:
        group = report.group(load.kind)
        test.equal(f"{load.kind.name}: commands", group.commands, load.count)
        test.within(f"{load.kind.name}: storage", group.stages["storage"] / 1e6, 5, share=0.1, margin=0.2, unit="ms")
        test.equal(f"{load.kind.name}: largest stage", group.largest, "storage")


def run(lab: Lab) -> None:
    with null_drive(lab, "nullb_connect", completion_nsec=_SLOW_NS) as drive, exported(lab, "connect", [drive]) as nqn:
        for name, options in _OPTIONS.items():
            with lab.scope.test(f"{name}: each command is joined, and the drive of 5 ms shows in storage") as test, \
                    connected(lab, nqn, *options) as devices:
                polled = "--nr-poll-queues=1" in options
                if polled and lab.host.read_file(f"/sys/block/{devices[0]}/queue/io_poll").strip() == b"0":
                    # 5.10: what applications open has the paths below it, and only a path's own queue is polled.
                    test.note("nobody polls here: this kernel says that a namespace with paths cannot be (queue/io_poll)")
                    polled = False
                with session(lab.host, devices[0]) as recording:
                    fio.run(lab.host, devices[0], _LOADS)
                    if polled:
                        _poll(lab, devices[0])
                _check(test, recorded(recording), [*_LOADS, Load(_POLLED, _POLLED_COUNT)] if polled else _LOADS)
        with lab.scope.test("more queues than the programs remember have been there: each command is joined") as test, \
                connected(lab, nqn) as devices:
            with session(lab.host, devices[0]) as recording:
                filled = lab.host.sh(_FILL, timeout=300).stdout.split()
                fio.run(lab.host, devices[0], _LOADS)
            test.equal("maps that were filled: of the host, of the target", len(filled), 2)
            _check(test, recorded(recording), _LOADS)
