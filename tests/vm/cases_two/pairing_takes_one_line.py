# SPDX-License-Identifier: GPL-2.0-or-later
"""Two machines that share nothing are peers after one line: the socket starts ntprof-peerd on one, the bus on the other."""

from __future__ import annotations

import re
import time

from bed.machine import Machine
from support import pairing
from support.lab_two import HOST, PEER, Lab
from support.ntprofctl import ctl

_INVITATION_INVALID, _PEER_EXISTS = 18, 19
_EXPOSURE_MAX = 2.5
"""Of systemd-analyze security: 0 is confined, 10 is not. It talks to a network, ntprofd does not."""


def _active(machine: Machine, unit: str) -> str:
    return machine.run(["systemctl", "is-active", unit]).stdout.strip()


def _listens(machine: Machine) -> bool:
    return ":4425" in machine.run(["ss", "--listening", "--tcp", "--numeric", "--no-header"], check=True).stdout


def _mistyped(line: str) -> str:
    """With another last but one character of the one-time code's second group."""
    place = len(line) - 7
    return line[:place] + ("A" if line[place] != "A" else "B") + line[place + 1:]


def _pair(lab: Lab) -> str:
    host, target = lab.host, lab.target
    with lab.scope.test("nothing runs and nothing listens; enabling the socket starts no ntprof-peerd") as test:
        for machine in (host, target):
            test.equal(f"ntprof-peerd on the {machine.role}", _active(machine, "ntprof-peerd"), "inactive")
            test.true(f"port 4425 on the {machine.role}", not _listens(machine), "nobody listens")
        pairing.listen(target)
        test.true("port 4425 on the target, enabled", _listens(target))
        test.equal("ntprof-peerd on the target, enabled", _active(target, "ntprof-peerd"), "inactive")
    line = ""
    with lab.scope.test("invite on the target and join on the host make them peers; a line is refused mistyped, and a second "
                        "time") as test:
        since = time.monotonic()
        line = pairing.invite(target, pairing.host_nqn(host))
        mistyped = ctl(host, "peer", "join", _mistyped(line))
        test.equal(f"exit status of join with a mistyped line: {mistyped.stderr.strip()}", mistyped.status, _INVITATION_INVALID)
        said = pairing.join(host, line)
        test.note(f"paired in {time.monotonic() - since:.1f} s")
        test.contains("what join says", said, PEER)
        again = ctl(host, "peer", "join", line)
        test.true(f"exit status of a second join: {again.stderr.strip()}", again.status in (_INVITATION_INVALID, _PEER_EXISTS))
        for machine, peer in ((host, PEER), (target, HOST)):
            test.contains(f"peers of the {machine.role}", ctl(machine, "peer", "list").check().stdout, peer)
        test.contains("what the host may have recorded", target.read_file(f"{pairing.ETC}/{HOST}.conf").decode(),
                      pairing.host_nqn(host))
    return line


def _confined(lab: Lab, machine: Machine) -> None:
    with lab.scope.test(f"ntprof-peerd on the {machine.role} has a user of its own, no capability, and a key that only it "
                        "reads") \
            as test:
        ctl(machine, "peer", "list").check()
        status = machine.sh('cat "/proc/$(pgrep -x ntprof-peerd)/status"').stdout
        facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        user = machine.run(["id", "--user", "ntprof-peer"], check=True).stdout.strip()
        test.equal("user ids", set(facts["Uid"].split()), {user})
        for which in ("CapPrm", "CapEff", "CapBnd", "CapAmb"):
            test.equal(which, int(facts[which], 16), 0)
        test.equal("no new privileges", facts["NoNewPrivs"], "1")
        test.equal("system call filter (2: by program)", facts["Seccomp"], "2")
        readable = machine.sh(f'grep --recursive --files-with-matches "PRIVATE KEY" {pairing.STATE} | '
                              "xargs --no-run-if-empty stat --format='%U %a'").stdout.split("\n")
        test.equal("owner and mode of the files with a private key", [line for line in readable if line], ["ntprof-peer 600"])
        text = machine.run(["systemd-analyze", "security", "--no-pager", "ntprof-peerd.service"], check=True).stdout
        found = re.search(r"Overall exposure level for ntprof-peerd.service: ([\d.]+)", text)
        if test.true("an exposure level", found):
            assert found
            test.at_most("exposure level", float(found.group(1)), _EXPOSURE_MAX)


def run(lab: Lab) -> None:
    if lab.paired:
        lab.scope.say("the machines are paired already")
        return
    _pair(lab)
    for machine in lab.bed.virtual_machines:
        _confined(lab, machine)
