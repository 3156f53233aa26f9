# SPDX-License-Identifier: GPL-2.0-or-later
"""The demo: boot, load, record, and print the joined report of each kernel beside what fio and bpftool say.

    demo.py [--build DIR] [--kernel 6.1 ...]

Nothing is replayed: the reports are measured on real nvme-tcp and nvmet-tcp while you wait.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

from bed import Bed
from support import fio
from support.checks import Results, Scope
from support.ending import end_on_sigterm
from support.lab import Lab
from support.report import Report

_KERNELS = ("6.1", "6.12")
_LOADS = [fio.Load(fio.READ_4K, 8000, 8), fio.Load(fio.WRITE_64K, 1000, 4)]


def _say(text: str = "") -> None:
    print(text, flush=True)


def _title(text: str) -> None:
    _say()
    _say(text)
    _say("=" * len(text))


# In one go: virtual time leaps on while the machine waits for us, and the rates would be of the waiting.
_RECORD = """
set -e
programs() { bpftool prog show --json | jq -r '[.[] | select(.type == "tracing") | .id] | join(" ")'; }
id=$(ntprofctl session start --namespace "$1" --sample all --detach --json | jq -r .id)
until [ "$(ntprofctl session show "$id" --json | jq -r .state)" = recording ]; do sleep 0.05; done
shift
recording=$(programs)
"$@" > /run/demo-fio.json
ntprofctl session stop "$id" >&2
jq -n --arg id "$id" --arg recording "$recording" --arg left "$(programs)" --arg text "$(ntprofctl report "$id")" \
    --slurpfile report <(ntprofctl report "$id" --json) --slurpfile fio /run/demo-fio.json \
    '{id: $id, recording: $recording, left: $left, text: $text, report: $report[0], fio: $fio[0]}'
"""


def _show(kernel: str, build: str) -> None:
    since = time.monotonic()
    _title(f"Kernel {kernel}")
    _say("Booting a machine without KVM; its target lives behind a veth pair ...")
    with Bed.up(kernel, name=f"demo-{kernel}-{os.getpid()}"[:32], icount=True, build=build) as bed:
        lab = Lab.prepare(bed, Scope(Results(), kernel))
        _say(f"Up after {time.monotonic() - since:.0f} s: kernel {bed.facts.releases['host']}, "
             f"/dev/{lab.namespace} connected over NVMe/TCP.")
        _say()
        _say(f"$ ntprofctl session start --namespace {lab.namespace} --sample all --detach")
        _say("$ fio: 8,000 random reads of 4 KiB at depth 8, then 1,000 random writes of 64 KiB at depth 4 ...")
        facts = lab.host.sh(_RECORD, lab.namespace, *fio.command(lab.namespace, _LOADS), timeout=600).json()
        _say(f"$ ntprofctl session stop {facts['id']}; ntprofctl report {facts['id']}")
        _say()
        _say(facts["text"])
        _say()
        _say(f"kernel                                       {bed.facts.releases['host']}")
        _say(f"programs in it while recording (bpftool)     {facts['recording']}")
        _say(f"programs in it afterwards                    {facts['left'] or 'none'}")
        report = Report(facts["report"])
        for load, outcome in zip(_LOADS, fio.parse(facts["fio"], _LOADS), strict=True):
            group = report.find(load.kind)
            assert group is not None, f"the report has no {load.kind.name}"
            _say(f"{load.kind.name + ': fio, report':<45}{outcome.ios} and {group.commands} commands, "
                 f"mean latency {outcome.lat_ns / 1e3:.0f} and {group.mean_ns / 1e3:.0f} us")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.environ.get("NTPROF_BUILD", "build"), help="the build to install")
    parser.add_argument("--kernel", action="append", dest="kernels", help="default: 6.1 and 6.12")
    arguments = parser.parse_args()
    end_on_sigterm()

    _say("Where does the time of an I/O go? A host and its target in one virtual machine, measured by ntprof.")
    _say("fio's own time is in its latency and not in the report's; under emulation it is large.")
    for kernel in arguments.kernels or _KERNELS:
        _show(kernel, arguments.build)
    _title("Where to go next")
    _say("""README.md                         on a machine of your own: install, check, record
docs/model.md                     what each stage is, and why no clock is synchronised
./dev bed up --kernel 6.12        a machine like these to try things in; then, for instance,
  ./dev bed exec target -- tc qdisc add dev vt root netem delay 5ms limit 10000
  ./dev bed exec host -- bash -c 'fio --name=load --filename=/dev/nvme0n1 --rw=randread --bs=4k --iodepth=8 \\
      --ioengine=libaio --direct=1 --time_based --runtime=60 > /dev/null & ntprofctl session start -n nvme0n1 -d 5s; kill %1'
./dev test                        proves the numbers""")
    return 0


if __name__ == "__main__":
    sys.exit(main())
