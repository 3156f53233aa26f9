# SPDX-License-Identifier: GPL-2.0-or-later
"""The demo: boot a host and its target, pair them, load, record, and print the joined report beside what fio and bpftool say.

    demo.py [--build DIR] [--kernel 6.12] [--target-kernel 6.1]

Nothing is replayed: the report is measured on real nvme-tcp and nvmet-tcp while you wait.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

from bed import Bed
from bed.machine import Machine
from support import fio, ntprofctl, pairing
from support.checks import Results, Scope
from support.ending import end_on_sigterm
from support.lab_two import Lab
from support.report import Report

_LOADS = [fio.Load(fio.READ_4K, 4000, 8), fio.Load(fio.WRITE_64K, 300, 4)]


def _say(text: str = "") -> None:
    print(text, flush=True)


def _run(machine: Machine, *argv: str) -> str:
    """Run it as a person would see it."""
    _say(f"{machine.role}# {' '.join(argv)}")
    output = machine.run(argv, timeout=300, check=True).stdout
    if output.strip():
        _say(output.rstrip())
    return output


def _pair(lab: Lab) -> None:
    since = time.monotonic()
    _run(lab.target, "systemctl", "enable", "--now", "--quiet", pairing.SOCKET)
    line = pairing.line_in(_run(lab.target, *pairing.invitation(lab.target, pairing.host_nqn(lab.host))))
    _run(lab.host, "ntprofctl", "peer", "join", line)
    _say(f"(paired in {time.monotonic() - since:.1f} s; no certificate authority, no clock synchronised)")


def _programs(lab: Lab) -> list[tuple[str, str]]:
    """Ids of what is attached on each machine, by bpftool."""
    return [(machine.role, " ".join(str(program["id"]) for program in ntprofctl.attached_programs(machine)) or "none")
            for machine in (lab.host, lab.target)]


def _record(lab: Lab) -> None:
    _say(f"host# ntprofctl session start --namespace {lab.namespace} --sample all --detach")
    started = ntprofctl.start_detached(lab.host, lab.namespace, "all")
    ntprofctl.wait_recording(lab.host)
    recording = _programs(lab)
    _say(f"host# fio: {', then '.join(f'{load.count:,} {load.kind.name}, {load.depth} at a time' for load in _LOADS)} ...")
    outcomes = fio.run(lab.host, lab.namespace, _LOADS, real_time=False)
    _run(lab.host, "ntprofctl", "session", "stop", started.id)
    report = Report(ntprofctl.ctl(lab.host, "report", started.id, "--json").check().json())
    _say()
    _run(lab.host, "ntprofctl", "report", started.id)
    _say()
    for role, release in lab.bed.facts.releases.items():
        _say(f"{f'kernel of the {role}':<45}{release}")
    for when, programs in (("while recording", recording), ("afterwards", _programs(lab))):
        for role, ids in programs:
            _say(f"{f'programs in the {role} {when}':<45}{ids}")
    for load, outcome in zip(_LOADS, outcomes, strict=True):
        group = report.group(load.kind)
        _say(f"{load.kind.name + ': fio, report, both sides':<45}{outcome.ios}, {group.commands} and {group.joined} commands, "
             f"mean latency {outcome.lat_ns / 1e3:.0f} and {group.mean_ns / 1e3:.0f} us")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.environ.get("NTPROF_BUILD", "build"), help="the build to install")
    parser.add_argument("--kernel", default="6.12", help="of the host; default: %(default)s")
    parser.add_argument("--target-kernel", default="6.1", help="default: %(default)s")
    arguments = parser.parse_args()
    end_on_sigterm()

    since = time.monotonic()
    _say("Where does the time of an I/O go? A host and its target, two virtual machines on one wire, measured by ntprof.")
    _say("Booting them without KVM ...")
    with Bed.up(arguments.kernel, name=f"demo-{os.getpid()}", machines=2, target_kernel=arguments.target_kernel,
                build=arguments.build) as bed:
        lab = Lab.prepare(bed, Scope(Results(), "demo"))
        _say(f"Up after {time.monotonic() - since:.0f} s: /dev/{lab.namespace} of the host is a drive of the target, over "
             "NVMe/TCP.")
        _say()
        _pair(lab)
        _say()
        _record(lab)
    _say("""
fio's own time is in its latency and not in the report's; under emulation it is large.

README.md                         on machines of your own: install, pair, record
docs/model.md                     what each stage is, and why no clock is synchronised
./dev bed up --machines 2         machines like these to try things in; pair them as above, then for instance
  ./dev bed exec target -- tc qdisc add dev vt root netem delay 20ms limit 10000
  ./dev bed exec host -- bash -c 'fio --name=load --filename=/dev/nvme0n1 --rw=randread --bs=4k --iodepth=8 \\
      --ioengine=libaio --direct=1 --time_based --runtime=60 > /dev/null & ntprofctl session start -n nvme0n1 -d 5s; kill %1'
./dev test                        proves the numbers""")
    return 0


if __name__ == "__main__":
    sys.exit(main())
