# SPDX-License-Identifier: GPL-2.0-or-later
"""A transport's module is unloaded and loaded again: a session holds it no longer than it lasts, and the next one has the new one."""

from __future__ import annotations

from support import fio, ntprofctl
from support.fio import READ_4K, Load
from support.lab import Lab

_MODULE = "nvme_tcp"
_CONNECT = """
modprobe "$1"
nvme connect --transport tcp --traddr 10.8.0.2 --trsvcid 4420 --nqn "$2" >&2
for _ in $(seq 100); do
  for controller in /sys/class/nvme/nvme*; do
    if [ "$(cat "$controller/subsysnqn")" = "$2" ] && [ "$(cat "$controller/state")" = live ]; then
      for found in "$controller"/nvme*n*; do
        found=${found##*/}; name=$(sed 's/c[0-9]*n/n/' <<< "$found")
        [ ! -b "/dev/$name" ] || { echo "$name"; exit 0; }
      done
    fi
  done
  sleep 0.1
done
exit 1
"""


def _unload(lab: Lab) -> tuple[int, str]:
    found = lab.host.run(["rmmod", _MODULE])
    return found.status, found.stderr


def run(lab: Lab) -> None:
    host = lab.host
    nqn = "nqn.2026-01.org.ntprof:bed"
    with lab.scope.test(f"{_MODULE} can be unloaded when the session has ended, and the same ntprofd records by the next one") as test:
        typed = ntprofctl.ctl(host, "check", "--json").check().json()["programs"]["host"]["family"] == "typed"
        daemon = host.run(["pgrep", "-x", "ntprofd"]).stdout
        recording = ntprofctl.start_detached(host, lab.namespace)
        ntprofctl.wait_recording(host)
        host.run(["nvme", "disconnect", "--nqn", nqn], check=True)
        status, why = _unload(lab)
        if typed:
            # Functions of the module are patched. kprobes go with what they are on.
            test.equal("status of rmmod while it records", status, 1)
            test.contains("why", why, "in use")
        else:
            test.equal("status of rmmod while it records", (status, why), (0, ""))
        recording.stop()
        if typed:
            test.equal("rmmod when it has ended", _unload(lab), (0, ""))
        test.equal("left in the kernel", ntprofctl.left_attached(host), [])

        namespace = host.sh(_CONNECT, _MODULE, nqn).stdout.strip()
        with ntprofctl.session(host, namespace) as again:
            outcome = fio.run(host, namespace, [Load(READ_4K, 100)])[0]
        report = ntprofctl.recorded(again)
        test.equal("commands by the next module", report.commands, outcome.ios)
        test.at_least("joined and lost ones", report.joined + sum(report.losses.values()), outcome.ios)
        test.at_least("joined commands", report.joined, 1)
        test.equal("it is the same ntprofd", host.run(["pgrep", "-x", "ntprofd"]).stdout, daemon)
