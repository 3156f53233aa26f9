#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A session on the host with the target's side from the target: real ntprofd and ntprof-peerd on both, fed from two recordings of the
same commands, the target's by another clock."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bus"))

import make_replay  # noqa: E402
import tap  # noqa: E402
from machines import Pair, now_usec, strangers, wait_until  # noqa: E402
from service import SESSION, Client  # noqa: E402

OFFSET = 987_654_321_000        # ns: the target's clock is ahead by so much
OTHER_NQN = "nqn.2014-08.org.nvmexpress:uuid:ffffffff-2d2c-4c0c-9f4f-4a8d6f2f7a01"
RATE = 1000                     # commands/s


class Lab:
    """The pair, and what the two recordings hold."""

    def __init__(self, pair: Pair) -> None:
        self.pair, self.host, self.target = pair, pair.host, pair.target
        self.client: Client = pair.host.service.client()
        self.path = ""

    def recordings(self, seconds: float = 2.0, **kw: object) -> tuple[make_replay.Recording, make_replay.Recording]:
        both = make_replay.recording(seconds, RATE, **kw)
        later = [dataclasses.replace(c, submitted=c.submitted + OFFSET) for c in both.commands]
        return (dataclasses.replace(both, has_target=False),
                dataclasses.replace(both, commands=later, start=both.start + OFFSET, end=both.end + OFFSET, machine="stor-a"))

    def start(self, seconds: float = 2.0, speed: float = 2, **kw: object) -> None:
        """Both ntprofd, and the pairing; what the host may have is for the test to say."""
        host, target = self.recordings(seconds, **kw)
        self.start_target(target, speed)
        self.host.start_ntprofd(host, speed)
        self.pair.start()
        self.pair.pair()

    def start_target(self, recording: make_replay.Recording, speed: float) -> None:
        """A real target has seen all that the host has; a replay that begins earlier and is a little faster has, too."""
        self.target.start_ntprofd(recording, speed * 1.5)

    def confirm(self, **more: str) -> None:
        self.target.configure("host-a", HostNQN=make_replay.HOSTNQN, **more)

    def session(self, **options: object) -> str:
        options.setdefault("sample", "all")
        self.path = self.client.start(**options)
        return self.path

    def report(self) -> dict:
        self.client.wait_state(self.path, "finished", "failed")
        assert self.client.get(self.path, "Result") == "done", self.client.get(self.path, "Message")
        return self.client.report(self.path)

    def recording(self) -> None:
        """Wait until both sides do."""
        wait_until(lambda: self.client.get(self.path, "Targets") == [("stor-a", "recording", "")] and
                   self.client.get(self.path, "State") == "recording", f"both to record: {self.client.get(self.path, 'Targets')}")

    def nothing_left(self) -> None:
        """No stream, no recording, no file descriptor, on either machine."""
        for machine, name in ((self.host, "stor-a"), (self.target, "host-a")):
            if machine.peerd and name in machine.peers():
                wait_until(lambda m=machine, n=name: m.peers()[n]["Streams"] == 0, f"the streams of {machine.folder.name} to end")


@contextlib.contextmanager
def lab() -> Iterator[Lab]:
    with strangers(start=False) as pair:
        made = Lab(pair)
        yield made
        made.nothing_left()


def joined(report: dict) -> int:
    return sum(g["joined"] for g in report["groups"])


def lost(report: dict) -> dict[str, int]:
    return {k: n for k, n in report["losses"].items() if n}


def reason_of(report: dict) -> str:
    """Why there is no target's side; the session itself is whole."""
    assert report["targets"] == [] and joined(report) == 0 and not lost(report), (report["targets"], lost(report))
    assert report["session"]["sampled"] == sum(g["sampled"] for g in report["groups"]) > 0, report["session"]
    return report["paths"][0]["target_reason"]


# ---- what it is for

@tap.case
def every_command_is_joined(lab: Lab) -> None:
    lab.start()
    lab.confirm()
    lab.session()
    lab.recording()
    assert lab.target.peers()["host-a"]["Streams"] == 1 and lab.host.peers()["stor-a"]["Streams"] == 1
    report = lab.report()
    assert joined(report) == report["session"]["sampled"] == 2 * RATE, (joined(report), report["session"], lost(report))
    assert not lost(report), lost(report)
    (target,) = report["targets"]
    assert target["peer"] == "stor-a" and [h["boundary"] for h in target["hooks"]] == ["T1", "T9"], target
    read = next(g for g in report["groups"] if g["op"] == "read")
    stages = {s["id"]: s["mean_ns"] for s in read["stages"]}
    host, _ = lab.recordings()
    commands = [c for c in host.commands if c.opcode == make_replay.OP_READ]
    assert abs(stages["storage"] - sum(c.target[7] - c.target[4] for c in commands) / len(commands)) < 1, stages
    assert abs(sum(stages.values()) - read["latency"]["mean_ns"]) < 1, stages


@tap.case
def detail_reaches_the_target(lab: Lab) -> None:
    """And what the target knows of its drive the host's report."""
    lab.start(detail=True, drive_hidden="the namespace is a file")
    lab.confirm()
    lab.session(detail=True)
    report = lab.report()
    assert joined(report) == 2 * RATE and report["targets"][0]["drive_hidden"] == "the namespace is a file", report["targets"]
    stages = {s["id"]: s for s in report["groups"][0]["stages"]}
    assert {c["mean_ns_reason"] for c in stages["storage"]["components"]} == {"the namespace is a file"}, stages["storage"]
    network = {c["id"]: c["mean_ns"] for c in stages["network"]["components"]}
    assert network["target_receive"] == 800 and network["host_receive"] == 1500, network


@tap.case
def a_target_that_has_no_detail_says_so(lab: Lab) -> None:
    host, _ = lab.recordings(detail=True)
    _, target = lab.recordings()
    lab.start_target(target, 2)
    lab.host.start_ntprofd(host, 2)
    lab.pair.start()
    lab.pair.pair()
    lab.confirm()
    lab.session(detail=True)
    reason = reason_of(lab.report())
    assert reason.endswith("stor-a: the recording it replays was made without detail"), reason


@tap.case
def the_peer_is_found_by_what_it_exports(lab: Lab) -> None:
    """Its address is 127.0.0.1, the namespace's 10.0.0.2: it has told its subsystems."""
    lab.start()
    assert lab.host.peers()["stor-a"]["Subsystems"] == [make_replay.SUBSYSNQN]
    assert lab.host.find(subsysnqn=make_replay.SUBSYSNQN, traddr="10.9.9.9") == "stor-a"
    assert lab.target.peers()["host-a"]["ClaimedHostNqns"] == [make_replay.HOSTNQN]
    assert lab.host.test("stor-a")["subsystems"] == [make_replay.SUBSYSNQN]


@tap.case
def what_it_exports_may_change(lab: Lab) -> None:
    """The target's ntprofd is asked again after 10 s, when somebody says Hello; who is linked hears of it then."""
    _, target = lab.recordings()
    lab.target.start_ntprofd(dataclasses.replace(target, has_target=False))
    lab.pair.start()
    lab.pair.pair()
    assert lab.host.peers()["stor-a"]["Subsystems"] == []
    lab.target.service.stop()
    lab.target.start_ntprofd(target)
    time.sleep(10.5)
    lab.host.test("stor-a")
    wait_until(lambda: lab.host.peers()["stor-a"]["Subsystems"] == [make_replay.SUBSYSNQN], "the host to hear of it", 20)


@tap.case
def sampled_commands_are_joined_too(lab: Lab) -> None:
    lab.start(seconds=4.0)
    lab.confirm()
    lab.session(sample="1/4")
    report = lab.report()
    assert 0 < joined(report) == report["session"]["sampled"] < 2 * RATE and not lost(report), (report["session"], lost(report))


@tap.case
def two_sessions_at_once(lab: Lab) -> None:
    lab.start()
    lab.confirm()
    first, second = lab.session(), lab.session()
    for path in (first, second):
        lab.path = path
        report = lab.report()
        assert joined(report) == report["session"]["sampled"] == 2 * RATE and not lost(report), lost(report)


# ---- what the target's administrator says

@tap.case
def unconfirmed_is_refused(lab: Lab) -> None:
    lab.start()
    lab.session()
    reason = reason_of(lab.report())
    assert reason.count("stor-a: ") == 1 and "ntprofctl peer confirm host-a" in reason, reason


@tap.case
def another_hosts_nqn_is_refused(lab: Lab) -> None:
    lab.start()
    lab.target.configure("host-a", HostNQN=OTHER_NQN)
    lab.session()
    reason = reason_of(lab.report())
    assert make_replay.HOSTNQN in reason, reason


@tap.case
def allow_none_is_nothing(lab: Lab) -> None:
    lab.start()
    lab.confirm(Allow="none")
    lab.session()
    assert "Allow" in reason_of(lab.report())


@tap.case
def the_sample_rate_is_limited(lab: Lab) -> None:
    lab.start(seconds=4.0)
    lab.confirm(MaxSampleRate="1/4")
    lab.session()
    report = lab.report()
    assert 0 < joined(report) < 2 * RATE, joined(report)
    # the host's side follows, or what the target was not allowed to sample is counted as that
    assert joined(report) == report["session"]["sampled"] - sum(lost(report).values()), (report["session"], lost(report))


@tap.case
def the_time_is_limited(lab: Lab) -> None:
    lab.start(seconds=6.0, speed=1)
    lab.confirm(MaxSessionSec="1")
    lab.session()
    report = lab.report()
    assert 0 < joined(report) < 5 * RATE and report["session"]["sampled"] == 6 * RATE, (joined(report), report["session"])
    assert lost(report).get("target_gone", 0) > 3 * RATE, lost(report)
    assert "MaxSessionSec=1" in report["targets"][0]["ended_early"], report["targets"]


@tap.case
def the_pin_of_etc_is_the_targets_ntprofds_too(lab: Lab) -> None:
    """ntprof-peerd's word is only compared: a fingerprint that changes under a link ends what it may have."""
    lab.start()
    lab.confirm(Fingerprint="sha256-" + "0" * 64)
    lab.session()
    assert reason_of(lab.report()) != ""


# ---- what breaks

def goes_on(lab: Lab) -> dict:
    """The session ends by itself, with what it has, and says so."""
    report = lab.report()
    assert report["session"]["sampled"] == 6 * RATE, report["session"]
    gone = lost(report).get("target_gone", 0)
    assert 0 < joined(report) < 6 * RATE and gone > RATE, (joined(report), lost(report))
    assert joined(report) + sum(lost(report).values()) == report["session"]["sampled"], (joined(report), lost(report))
    return report


def broken(lab: Lab) -> None:
    lab.start(seconds=6.0, speed=2)
    lab.confirm()
    lab.session()
    lab.recording()
    time.sleep(1)


def works_again(lab: Lab) -> None:
    lab.session()
    report = lab.report()
    assert joined(report) == report["session"]["sampled"] == 6 * RATE and not lost(report), (joined(report), lost(report))


@tap.case
def a_recording_moves_when_a_peer_was_seen(lab: Lab) -> None:
    """Over a link that is there for longer than a minute."""
    lab.start(6.0)
    lab.confirm()
    time.sleep(1.5)             # what it told as it came has been written by then
    before = now_usec()
    sides = ((lab.host, "stor-a"), (lab.target, "host-a"))
    for machine, name in sides:
        path = machine.state / "peers.d" / f"{name}.conf"
        path.with_suffix(".new").write_text(re.sub(r"LastSeen=\d+", f"LastSeen={before - 61_000_000}", path.read_text()))
        path.with_suffix(".new").rename(path)
    for machine, name in sides:
        wait_until(lambda m=machine, n=name: m.peers()[n]["LastSeenUSec"] == before - 61_000_000, "the file to be read")
    lab.session()
    lab.recording()
    for machine, name in sides:
        wait_until(lambda m=machine, n=name: m.peers()[n]["LastSeenUSec"] >= before, f"{name} to be seen")
        assert machine.peers()[name]["Connected"], name
    lab.report()


@tap.case
def the_link_is_cut(lab: Lab) -> None:
    """The host's end of it, as by a network that fails at once."""
    broken(lab)
    lab.target.forget("host-a")
    report = goes_on(lab)
    assert "stor-a" in str(report["targets"]), report["targets"]


@tap.case
def the_targets_ntprofd_is_killed(lab: Lab) -> None:
    broken(lab)
    lab.target.service.kill()
    goes_on(lab)
    _, target = lab.recordings(6.0)
    lab.start_target(target, 2)
    works_again(lab)


@tap.case
def the_targets_peerd_is_killed(lab: Lab) -> None:
    broken(lab)
    lab.target.kill()
    goes_on(lab)
    lab.target.start()
    works_again(lab)


@tap.case
def the_hosts_peerd_is_killed(lab: Lab) -> None:
    broken(lab)
    lab.host.kill()
    goes_on(lab)
    wait_until(lambda: lab.target.peers()["host-a"]["Streams"] == 0, "the target to end its recording")
    lab.host.start()
    works_again(lab)


@tap.case
def the_hosts_ntprofd_is_killed(lab: Lab) -> None:
    broken(lab)
    lab.host.service.kill()
    wait_until(lambda: lab.target.peers()["host-a"]["Streams"] == 0, "the target to end its recording")
    host, _ = lab.recordings(6.0)
    lab.host.start_ntprofd(host, 2)
    works_again(lab)


@tap.case
def the_host_forgets_in_the_middle(lab: Lab) -> None:
    broken(lab)
    lab.host.forget("stor-a")
    goes_on(lab)


@tap.case
def the_session_is_stopped_and_cancelled(lab: Lab) -> None:
    broken(lab)
    lab.client.call(lab.path, SESSION, "Stop")
    report = lab.report()
    assert joined(report) == report["session"]["sampled"] > 0 and not lost(report), (joined(report), lost(report))
    lab.session()
    lab.recording()
    lab.client.call(lab.path, SESSION, "Cancel")
    lab.nothing_left()
    works_again(lab)


@tap.case
def nothing_is_left_of_many(lab: Lab) -> None:
    """After some warm-up the files that the four processes have open do not grow."""
    lab.start(seconds=0.5, speed=10)
    lab.confirm()

    def files() -> list[int]:
        processes = [p for m in (lab.host, lab.target) for p in (m.peerd, m.service.daemon)]
        return [len(list(Path(f"/proc/{p.pid}/fd").iterdir())) for p in processes if p]

    def some() -> list[int]:
        for _ in range(5):
            lab.session()
            assert joined(lab.report()) == RATE // 2
            lab.client.call(lab.path, SESSION, "Remove")
        lab.nothing_left()
        return files()

    before = some()
    after = some()
    wait_until(lambda: all(a <= b + 1 for a, b in zip(files(), before)), f"{after} to be {before}", 20)


tap.main(lab)
