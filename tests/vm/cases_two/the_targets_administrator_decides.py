# SPDX-License-Identifier: GPL-2.0-or-later
"""What /etc/ntprof/peers.d of the target says holds, whatever the host asks for; and what is refused says why."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from support import fio, pairing
from support.fio import READ_4K, Load
from support.lab_two import HOST, PEER, Lab, account
from support.leftovers import Leftovers
from support.ntprofctl import START, recorded, session
from support.report import Report

_PEER_REFUSED = 16
_SECONDS = 2


@contextlib.contextmanager
def _peer_file(lab: Lab, *lines: str, nqn: str | None = None) -> Iterator[None]:
    """The target's file of the host, with these lines in it, and perhaps another host NQN."""
    path = f"{pairing.ETC}/{HOST}.conf"
    before = lab.target.read_file(path).decode()
    kept = [line for line in before.splitlines() if nqn is None or not line.startswith("HostNQN=")]
    own = [f"HostNQN={nqn}"] if nqn else []
    lab.target.write_file(path, "\n".join([*kept, *own, *lines]) + "\n")
    try:
        yield
    finally:
        lab.target.write_file(path, before)


def _refused(lab: Lab, what: str, *pieces: str) -> None:
    with lab.scope.test(f"{what}: the session is refused and says so, and without --peer it goes on with the host's "
                        "side") as test:
        leftovers = Leftovers(lab.host, lab.target)
        since = lab.target.sh("date +%s").stdout.strip()
        result = lab.host.run([*START, "--namespace", lab.namespace, "--peer", PEER, "--duration", "2s"], timeout=120)
        test.equal(f"exit status (standard error: {result.stderr.strip()})", result.status, _PEER_REFUSED)
        for piece in pieces:
            test.contains("what it says", result.stderr, piece)
        journal = lab.target.run(["journalctl", "--unit=ntprofd", "--output=cat", f"--since=@{since}"]).stdout
        for piece in (HOST, pairing.fingerprint(lab.host)):
            test.contains("the target's journal of the request", journal, piece)
        with session(lab.host, lab.namespace) as recording:
            outcome = fio.run(lab.host, lab.namespace, [Load(READ_4K, 200)])[0]
        report = recorded(recording)
        test.equal("commands without the target's side", report.commands, outcome.ios)
        test.equal("targets in the report", report.data["targets"], [])
        for piece in pieces:
            test.contains("why the path has no target's side", str(report.data["paths"][0].get("target_reason")), piece)
        leftovers.check(test)


def _limited(lab: Lab) -> None:
    with lab.scope.test("MaxSampleRate=1/16: of --sample all the target records 1 in 16, and the report tells what the rest "
                        "lacks") as test:
        with _peer_file(lab, "MaxSampleRate=1/16"), session(lab.host, lab.namespace) as recording:
            outcome = fio.run(lab.host, lab.namespace, [Load(READ_4K, 1600, 4)])[0]
        report = recorded(recording)
        account(test, report)
        test.equal("commands of the session, against fio's I/Os", report.commands, outcome.ios)
        # 100 +- 5 sigma: what independent choices, or no limit at all, would not give.
        test.within("joined commands", report.joined, outcome.ios / 16, margin=5 * (outcome.ios * 15 / 256) ** 0.5)

    with lab.scope.test(f"MaxSessionSec={_SECONDS}: the target ends after that, the host goes on, and the report has when and "
                        "why") as test:
        with _peer_file(lab, f"MaxSessionSec={_SECONDS}"):
            load = fio.start_endless(lab.host, lab.namespace)
            try:
                client = lab.host.run([*START, "--namespace", lab.namespace, "--sample", "all", "--duration", "6s", "--json"],
                                      timeout=120)
            finally:
                load.kill()
        test.equal(f"exit status (standard error: {client.stderr.strip()})", client.status, 0)
        test.stop_if_failed()
        report = Report(client.json())
        account(test, report)
        target = report.data["targets"][0]
        test.within("time recorded by the target", target["recorded_ns"] / 1e9, _SECONDS, margin=1.5, unit="s")
        test.at_least("time recorded by the host", report.seconds, 5.9, "s")
        test.contains("why", str(target["ended_early"]), "MaxSessionSec")
        test.at_least("commands that lack the target's side for that", report.losses.get("target_gone", 0),
                      0.3 * report.sampled)
        test.true("the report warns of it", any("target" in warning and "ended" in warning for warning in report.warnings))


def run(lab: Lab) -> None:
    with _peer_file(lab, "Allow=none"):
        _refused(lab, "Allow=none on the target", "Allow", HOST)
    with _peer_file(lab, nqn="nqn.2026-01.org.ntprof:another-host"):
        _refused(lab, "the host NQN is not this peer's", pairing.host_nqn(lab.host))
    _limited(lab)
