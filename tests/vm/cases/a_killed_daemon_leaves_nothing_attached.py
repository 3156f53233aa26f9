# SPDX-License-Identifier: GPL-2.0-or-later
"""ntprofd killed in the middle of a session: nothing stays in the kernel, the client tells, the next session works."""

from __future__ import annotations

from support import fio, ntprofctl
from support.fio import READ_4K, Load
from support.lab import Lab

_SERVICE_GONE = 21


def run(lab: Lab) -> None:
    host = lab.host
    with lab.scope.test("kill -9 of ntprofd: nothing stays attached, ntprofctl tells, and the bus starts it anew") as test:
        load = fio.start_endless(host, lab.namespace)
        try:
            client = ntprofctl.start_attached(host, lab.namespace, "--sample", "all")
            ntprofctl.wait_recording(host)
            test.at_least("programs while it records", len(ntprofctl.attached_programs(host)), 10)
            host.sh("kill -9 $(pgrep -x ntprofd)")
            ended = client.wait(60)
            test.equal("exit status of the client", ended.status, _SERVICE_GONE)
            test.contains("what the client says", ended.stderr, "ntprofd left the bus")
            test.equal("report of a session that was lost", ended.stdout, "")
            test.equal("left in the kernel", ntprofctl.left_attached(host), [])
            test.equal("sessions of the next ntprofd", ntprofctl.sessions(host), [])
            test.true("the load goes on", load.poll() is None)
        finally:
            load.kill()
        with ntprofctl.session(host, lab.namespace) as recording:
            outcome = fio.run(host, lab.namespace, [Load(READ_4K, 100)])[0]
        test.equal("joined commands of the next session", ntprofctl.recorded(recording).joined, outcome.ios)
