# SPDX-License-Identifier: GPL-2.0-or-later
"""kill -9 of each daemon on each machine: no program stays in either kernel, and whoever is left goes on and tells."""

from __future__ import annotations

import functools

from support import breaking, fio, ntprofctl
from support.lab_two import Lab
from support.leftovers import Leftovers

_SERVICE_GONE = 21


def _kill(lab: Lab, role: str, daemon: str) -> None:
    machine = getattr(lab, role)
    machine.sh(f"kill -9 $(pgrep -x {daemon})")


def run(lab: Lab) -> None:
    for role, daemon in (("target", "ntprofd"), ("target", "ntprof-peerd"), ("host", "ntprof-peerd")):
        with lab.scope.test(f"kill -9 of the {role}'s {daemon}: the host records on, tells when the target's side ended and "
                            "why, and the next session has both sides") as test:
            broken = breaking.while_recording(lab, test, functools.partial(_kill, lab, role, daemon))
            breaking.told_why(test, broken)
            breaking.works_again(lab, test)

    with lab.scope.test("kill -9 of the host's ntprofd: within seconds no program is left in the target's kernel "
                        "either") as test:
        leftovers = Leftovers(lab.host, lab.target)
        load = fio.start_endless(lab.host, lab.namespace)
        try:
            client = ntprofctl.start_attached(lab.host, lab.namespace, "--sample", "all")
            ntprofctl.wait_recording(lab.host)
            test.at_least("programs in the target's kernel while it records", len(ntprofctl.attached_programs(lab.target)), 5)
            _kill(lab, "host", "ntprofd")
            test.equal("exit status of the client", client.wait(60).status, _SERVICE_GONE)
            leftovers.check(test)
            test.equal("sessions of the target's ntprofd", ntprofctl.sessions(lab.target), [])
            test.true("the load goes on", load.poll() is None)
        finally:
            load.kill()
        breaking.works_again(lab, test)
