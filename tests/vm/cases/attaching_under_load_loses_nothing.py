# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions one after the other while fio reads, writes and verifies: the kernel says nothing, no I/O is lost, nothing
stays attached, ntprofd does not grow. Twenty here, in a minute or two a kernel; --stress has two hundred.
"""

from __future__ import annotations

import json
import signal
from collections import Counter
from typing import Any

from bed import Running
from support import kernel_log, ntprofctl
from support.lab import Lab

_CYCLES = 20
_WARM = 5
"""After so many, what the daemon keeps once is there."""
_GROWTH_KIB = 8192
"""A session that leaves its rings, maps or records behind leaves hundreds of KiB. malloc keeps nothing of that size
(daemon/main.c)."""

_FIO = ["fio", "--output-format=json", "--ioengine=libaio", "--direct=1", "--size=8m", "--thread", "--time_based",
        "--runtime=1h", "--rate_iops=15,15", "--iodepth=4"]
_VERIFIED = ["--name=verified", "--rw=randwrite", "--bs=4k", "--verify=crc32c", "--verify_backlog=32", "--verify_fatal=1",
             "--do_verify=1"]
# 32 KiB: sent after an R2T.
_MIXED = ["--name=mixed", "--offset=16m", "--rw=randrw", "--bs=32k", "--verify=crc32c", "--verify_backlog=16",
          "--verify_fatal=1", "--do_verify=1"]

_DAEMON = 'pid=$(pgrep -x ntprofd); echo "$pid $(ls "/proc/$pid/fd" | wc -l) $(awk \'/VmRSS/ { print $2 }\' "/proc/$pid/status")"'
# One line a session: what it recorded, or the error that ended it. Every fifth is ended by Ctrl-C.
_CYCLE = f"""
set +e
for i in $(seq "$2"); do
  if [ $((i % 5)) != 0 ]; then
    ntprofctl session start --namespace "$1" --sample all --duration 200ms --json > /run/cycle.json 2> /run/cycle.err
    status=$?
  else
    : > /run/cycle.err  # else what the session before said may be read, and the signal come before anything can end
    ntprofctl session start --namespace "$1" --sample all --json > /run/cycle.json 2> /run/cycle.err &
    for _ in $(seq 600); do
      if grep -q recording /run/cycle.err; then break; fi
      sleep 0.1
    done
    kill -INT $!
    wait $!
    status=$?
  fi
  if [ $status != 0 ]; then echo "{{\\"status\\": $status, \\"error\\": $(jq -Rs . /run/cycle.err)}}"; continue; fi
  jq -c '{{status: 0, commands: .session.commands, sampled: .session.sampled,
          joined: ([.groups[] | select(.part_of_other | not) | .joined] | add // 0), losses: .losses}}' /run/cycle.json
  ntprofctl session remove "$(jq -r .session.id /run/cycle.json)"  # else its report stays, up to a number of them
  if [ $i = {_WARM} ]; then {_DAEMON} > /run/daemon.warm; fi
done
"""


def _start_fio(lab: Lab) -> Running:
    return lab.host.start([*_FIO, f"--filename=/dev/{lab.namespace}", *_VERIFIED, *_MIXED])


def run(lab: Lab) -> None:
    cycle(lab, _CYCLES)


def cycle(lab: Lab, cycles: int) -> None:
    """The test, of so many sessions."""
    with lab.scope.test(f"{cycles} sessions under load, every fifth ended by Ctrl-C: no oops, no lost I/O, nothing left "
                        "attached, no growth") as test:
        log = kernel_log.mark(lab.host)
        load = _start_fio(lab)
        uptime = "cut -d' ' -f1 /proc/uptime"
        began = float(lab.host.sh(uptime).stdout)
        lines = lab.host.sh(_CYCLE, lab.namespace, str(cycles), timeout=cycles * 36).stdout.splitlines()
        seconds = float(lab.host.sh(uptime).stdout) - began
        warm, end = (list(map(int, text.split())) for text in
                     (lab.host.read_file("/run/daemon.warm").decode(), lab.host.sh(_DAEMON).stdout))
        test.true("fio runs to the end", load.poll() is None)
        load.signal(signal.SIGINT)
        finished = load.wait(120)

        sessions: list[dict[str, Any]] = [json.loads(line) for line in lines]
        test.equal("sessions", len(sessions), cycles)
        test.equal("sessions that failed", [entry for entry in sessions if entry["status"] != 0], [])
        good = [entry for entry in sessions if entry["status"] == 0]
        test.at_least("sessions with commands", sum(entry["commands"] > 0 for entry in good), 0.5 * cycles)
        sampled, joined = sum(entry["sampled"] for entry in good), sum(entry["joined"] for entry in good)
        test.equal("sampled commands, against all", sampled, sum(entry["commands"] for entry in good))
        losses = sum((Counter(entry["losses"]) for entry in good), Counter[str]())
        test.at_least("joined commands", joined, 0.999 * sampled)
        test.note(f"{joined} of {sampled} commands joined, losses {dict(losses)}; {seconds / cycles:.1f} s of the guest's time a "
                  "session")

        # fio says first that a signal ended it.
        jobs = json.loads(finished.stdout[finished.stdout.index("{"):])["jobs"]
        test.equal("errors of fio's jobs (data that does not verify is one)", [job["error"] for job in jobs], [0, 0])
        for job in jobs:
            test.at_least(f"I/Os verified and read by {job['jobname']}", job["read"]["total_ios"], 300)
        test.equal("the kernel's log", kernel_log.trouble(lab.host, log), [])

        test.equal("programs left in the kernel", ntprofctl.left_attached(lab.host), [])
        test.equal("ntprofd's process", end[0], warm[0])
        test.at_most("ntprofd's open files at the end", end[1], warm[1])
        test.at_most("ntprofd's memory at the end", end[2], warm[2] + _GROWTH_KIB, "KiB")
        test.note(f"ntprofd: {warm[1]} then {end[1]} open files, {warm[2]} then {end[2]} KiB resident")
