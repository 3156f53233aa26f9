# SPDX-License-Identifier: GPL-2.0-or-later
"""One session of ten minutes, in detail and sampled as by default, of a load that never lets up."""

from __future__ import annotations

from support import fio, kernel_log, ntprofctl
from support.lab import Lab
from support.ntprofctl import recorded, session

_MINUTES = 10
_DEPTH = 32
_GROWTH_KIB = 16384
"""What a session may keep while it goes on: its tables are of bounded size, and records wait for their partner for 5 s."""

_MEMORY = 'awk \'/VmRSS/ { print $2 }\' "/proc/$(pgrep -x ntprofd)/status"'


def run(lab: Lab) -> None:
    with lab.scope.test(f"{_MINUTES} minutes at a queue depth of {_DEPTH}: every I/O is counted, what is sampled is joined, ntprofd "
                        "does not grow, the kernel says nothing") as test:
        log = kernel_log.mark(lab.host)
        with session(lab.host, lab.namespace, "auto", "--detail") as recording:
            load = fio.start_mixed(lab.host, lab.namespace, _DEPTH, _MINUTES * 60)
            lab.host.sh("sleep 60", timeout=120)
            early = int(lab.host.sh(_MEMORY).stdout)
            outcome = fio.mixed_outcome(load, _MINUTES * 60 + 120)
            late = int(lab.host.sh(_MEMORY).stdout)
        report = recorded(recording)

        test.at_least("seconds of load", outcome.seconds, _MINUTES * 60 - 1)
        test.equal("commands of the session, against fio's I/Os", report.commands, outcome.ios)
        test.at_least("sampled commands", report.sampled, 10_000)
        test.equal("joined commands plus losses, against sampled ones", report.joined + sum(report.losses.values()),
                   report.sampled)
        test.at_least("joined commands", report.joined, 0.999 * report.sampled - report.skipped)
        test.at_most("queue depth by the stages", report.data["queue_depth"]["from_stages"], _DEPTH)
        test.within("queue depth by the stages, against diskstats'", report.data["queue_depth"]["from_stages"],
                    report.data["queue_depth"]["diskstats"]["avg_qd"], share=0.05)
        test.at_most("ntprofd's memory after ten minutes, against after one", late, early + _GROWTH_KIB, "KiB")
        test.equal("the kernel's log", kernel_log.trouble(lab.host, log), [])
        test.equal("programs left in the kernel", ntprofctl.left_attached(lab.host), [])
        test.note(f"{report.commands} commands, {report.sampled} sampled, {report.joined} joined, losses {report.losses}, beside "
                  f"{report.beside}; ntprofd: {early} KiB after a minute, {late} at the end")
