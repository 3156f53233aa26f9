# SPDX-License-Identifier: GPL-2.0-or-later
"""The target's power is cut in the middle of a session: the host's goes on, and when the target is back the pair is as it
was."""

from __future__ import annotations

from support import breaking, pairing
from support.lab_two import Lab


def run(lab: Lab) -> None:
    def cut_power() -> None:
        lab.bed.reset("target", keep=["/etc/ntprof", pairing.STATE])
        lab.target.run(["systemctl", "start", pairing.SOCKET], check=True)
        # nvme-tcp tries again every 10 s.
        lab.host.sh('for _ in $(seq 300); do [ "$(cat "/sys/class/nvme/$1/state")" != live ] || exit 0; sleep 0.1; done; '
                    'exit 1',
                    lab.namespace.partition("n1")[0], timeout=120)

    with lab.scope.test("the target reboots: the host's session lives on and ends in time, tells when the target's side "
                        "ended, and the next one has both sides without pairing anew") as test:
        broken = breaking.while_recording(lab, test, cut_power)
        breaking.told_why(test, broken)
        breaking.works_again(lab, test)
