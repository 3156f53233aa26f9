# SPDX-License-Identifier: GPL-2.0-or-later
"""A drive that answers with errors, and one that does not answer until the host has given up, reset the controller and sent
the bios again: each command is counted, and joined or lost by a cause.
"""

from __future__ import annotations

from support import fio, kernel_log
from support.exports import mapped, namespace, null_drive
from support.fio import READ_4K, Load
from support.kinds import check_all
from support.lab import Lab
from support.ntprofctl import recorded, session

_ERRORS = 20
_BLOCKS = 131072

_FAIL = """
dmsetup suspend --noflush failing; dmsetup load failing --table "0 $1 error"; dmsetup resume failing
fio --filename="/dev/$3" --name=fails --rw=read --bs=4k --direct=1 --size=$(($2 * 4))k --continue_on_error=io >&2 || true
dmsetup suspend --noflush failing; dmsetup load failing --table "$4"; dmsetup resume failing
"""

# The path device is hidden, and its queue has the time-out.
_HANG = """
for timeout in /sys/block/"${1%n*}"*n"${1##*n}"/queue/io_timeout; do echo 1000 > "$timeout"; done
dmsetup suspend --noflush --nolockfs failing
sleep 4
dmsetup resume failing
sleep 3
"""


def run(lab: Lab) -> None:
    log = kernel_log.mark(lab.host)
    with null_drive(lab, "nullb_failing") as drive, mapped(lab, "failing", f"0 {_BLOCKS} linear {drive} 0") as device, \
            namespace(lab, "failing", device, "--reconnect-delay=1", "--ctrl-loss-tmo=60") as found:
        with lab.scope.test("a drive that answers with errors: these commands are counted and joined like the others, and "
                            "the report tells how many they were") as test:
            with session(lab.host, found) as recording:
                fio.run(lab.host, found, [Load(READ_4K, 50)])
                lab.host.sh(_FAIL, str(_BLOCKS), str(_ERRORS), found, f"0 {_BLOCKS} linear {drive} 0")
            report = recorded(recording)
            test.equal("commands", report.commands, 50 + _ERRORS)
            failed = sum(int(group.data["failed"]) for group in report.groups if not group.data["part_of_other"])
            test.equal("failed commands", failed, _ERRORS)
            check_all(test, report)
        with lab.scope.test("a drive that hangs until the host gives up: what was cancelled is told, every command is "
                            "accounted for") as test:
            load = fio.start_endless(lab.host, found, iops=100)
            try:
                lab.host.sh("sleep 1")
                with session(lab.host, found) as recording:
                    lab.host.sh("sleep 1")
                    before = recording.show()["commands"]
                    lab.host.sh(_HANG, found)
                    after = recording.show()["commands"]
            finally:
                test.true("the load survives it", load.poll() is None)
                load.kill()
            report = recorded(recording)
            test.equal("joined commands plus losses, against sampled ones", report.joined + sum(report.losses.values()),
                       report.sampled)
            test.at_least("commands before", before, 50)
            test.at_least("commands after", after - before, 50)
            test.at_least("cancelled commands", report.losses.get("cancelled", 0), 1)
            test.at_least("joined commands", report.joined, 0.8 * report.sampled)
            test.note(f"{report.joined} of {report.sampled} joined, losses {report.losses}, beside {report.beside}")
            expected = ("I/O error", "timeout", "reset", "Connect", "error recovery", "nvme", "reconnect")
            trouble = [line for line in kernel_log.trouble(lab.host, log) if not any(word in line for word in expected)]
            test.equal("the kernel's log, but for what was done on purpose", trouble, [])
