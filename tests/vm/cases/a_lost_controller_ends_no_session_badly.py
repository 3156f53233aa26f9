# SPDX-License-Identifier: GPL-2.0-or-later
"""A controller that is reset or disconnected in the middle of a session: every command is joined or lost by a cause, and
the session ends when it should, with what it has.
"""

from __future__ import annotations

from bed import SLOW_NQN
from support import fio, kernel_log, ntprofctl
from support.checks import Test
from support.lab import Lab
from support.ntprofctl import Report

# Kernel messages of what was done on purpose.
_EXPECTED = ("reset", "I/O error", "timeout")


def _account(test: Test, report: Report) -> None:
    test.equal("joined commands plus losses, against sampled ones", report.joined + sum(report.losses.values()), report.sampled)
    test.note(f"{report.joined} of {report.sampled} joined, losses {report.losses}, beside {report.beside}")


def _trouble(lab: Lab, log: int) -> list[str]:
    return [line for line in kernel_log.trouble(lab.host, log) if not any(word in line for word in _EXPECTED)]


def run(lab: Lab) -> None:
    host = lab.host
    with lab.scope.test("a controller reset: the session goes on, commands of before and after are joined") as test:
        log = kernel_log.mark(host)
        load = fio.start_endless(host, lab.namespace, iops=400)
        try:
            host.sh("sleep 1")
            with ntprofctl.session(host, lab.namespace) as recording:
                host.sh("sleep 1")
                before = recording.show()
                host.sh('nvme reset "/dev/$1"; sleep 2', lab.namespace.partition("n1")[0])
                after = recording.show()
        finally:
            test.true("the load survives it", load.poll() is None)
            load.kill()
        test.at_least("commands before", before["commands"], 200)
        test.at_least("commands after", after["commands"] - before["commands"], 200)
        report = ntprofctl.recorded(recording)
        _account(test, report)
        test.at_least("joined commands", report.joined, 0.95 * report.sampled)
        test.equal("the kernel's log, but for the reset", _trouble(lab, log), [])

    with lab.scope.test("a controller that is disconnected: the session ends in time, with what it has") as test:
        log = kernel_log.mark(host)
        load = fio.start_endless(host, lab.slow_namespace, iops=400)
        try:
            client = ntprofctl.start_attached(host, lab.slow_namespace, "--sample", "all", "--duration", "4s", "--json")
            ntprofctl.wait_recording(host)
            host.sh("sleep 1")
            host.run(["nvme", "disconnect", "--nqn", SLOW_NQN], check=True)
            ended = client.wait(120)
            test.equal(f"exit status (standard error: {ended.stderr.strip()})", ended.status, 0)
        finally:
            load.kill()
            lab.slow_namespace = lab.bed.slow_namespace
        report = Report(ended.json())
        _account(test, report)
        test.at_least("commands of before", report.joined, 200)
        test.at_most("time recorded", report.seconds, 4.5, "s")
        test.equal("left in the kernel", ntprofctl.left_attached(host), [])
        test.equal("the kernel's log, but for the errors of the load", _trouble(lab, log), [])
