# SPDX-License-Identifier: GPL-2.0-or-later
"""ntprofd killed in the middle of a session: nothing stays in the kernel, the client tells, the next session works."""

from __future__ import annotations

from support import fio, ntprofctl
from support.fio import READ_4K, Load
from support.lab import Lab

_SERVICE_GONE = 21

# So many programs or links before the kill: none, loading, loaded, attaching. Before 5.15 only raw tracepoints are links: of a
# session there are six.
_MOMENTS = (("prog", 0), ("prog", 1), ("prog", 12), ("link", 1), ("link", 5))
_KILL = """
for _ in $(seq 1000); do
  [ "$(bpftool "$1" show | grep -cwE 'tracing|kprobe|perf_event|raw_tracepoint')" -lt "$2" ] || { kill -9 "$3"; exit 0; }
done
exit 1
"""


def _at_any_moment(lab: Lab) -> None:
    host = lab.host
    with lab.scope.test("kill -9 of ntprofd before, while and after it loads and attaches: nothing stays in the kernel") as test:
        for kind, count in _MOMENTS:
            ntprofctl.ctl(host, "check").check()
            daemon = host.run(["pgrep", "-x", "ntprofd"], check=True).stdout.strip()
            client = ntprofctl.start_attached(host, lab.namespace, "--sample", "all", "--duration", "1")
            host.sh(_KILL, kind, str(count), daemon, timeout=600)
            # Killed before it was asked, it is started anew for that.
            expected = (_SERVICE_GONE,) if count else (_SERVICE_GONE, 0)
            test.true(f"the client ends, killed at {count} {kind}s", client.wait(120).status in expected)
            test.equal(f"left in the kernel, killed at {count} {kind}s", ntprofctl.left_attached(host), [])


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
    _at_any_moment(lab)
