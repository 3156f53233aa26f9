#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The target is another machine: ntprof-peerd and the target's ntprofd are played by the test, from the records of the same
commands with another clock."""

import contextlib
import dataclasses
import json
import struct
import time
from collections.abc import Iterator

from gi.repository import GLib

import make_replay
import tap
from peerd import (
    CHANGED,
    ENDED,
    FACTS,
    PAUSE,
    POLICY,
    RECORDS,
    RESUME,
    SYNC,
    THRESHOLD,
    Peerd,
    Target,
    frame,
    refuse,
    target_records,
)
from service import Client, Service, errors_of, private_bus, spin

OFFSET = 123_456_789_000_000    # ns: the target's clock is ahead by so much


class Lab:
    """A host that replays a recording without the target's side, and a peer."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.peerd = Peerd(service)
        self.recording = make_replay.recording()
        self.client: Client = service.client()
        self.path = ""

    def start(self, speed: float = 4, **options: object) -> None:
        recording = dataclasses.replace(self.recording, has_target=False)
        self.service.start(recording, speed=speed)
        options.setdefault("sample", "all")
        self.path = self.client.start(**options)

    def records(self) -> list[bytes]:
        return target_records(self.recording.commands, OFFSET)

    def end_clock(self) -> int:
        """Of the target, after all it recorded."""
        return self.recording.end + OFFSET + 1_000_000_000

    def report(self) -> dict:
        self.client.wait_state(self.path, "finished", "failed")
        assert self.client.get(self.path, "Result") == "done", self.client.get(self.path, "Message")
        return self.client.report(self.path)

    def failed(self) -> tuple[str, str]:
        self.client.wait_state(self.path, "finished", "failed")
        return str(self.client.get(self.path, "Result")), str(self.client.get(self.path, "Message"))

    def record_all(self, target: Target, **facts: object) -> None:
        """All there is, in order and well."""
        target.begin(**facts)
        target.records(self.records())
        target.sync(self.end_clock())
        target.wait(PAUSE)
        target.ended()


@contextlib.contextmanager
def lab() -> Iterator[Lab]:
    with private_bus(POLICY) as service:
        made = Lab(service)
        try:
            yield made
        finally:
            made.peerd.close()


def joined(report: dict) -> int:
    return sum(g["joined"] for g in report["groups"])


def without_target(lab: Lab, reason: str) -> None:
    """The session went on, and the report says why it has the host's side only."""
    report = lab.report()
    assert report["targets"] == [] and report["paths"][0]["target"] is None
    assert report["paths"][0]["target_reason"] == f"the target is another machine (10.0.0.2): {reason}", report["paths"]
    assert joined(report) == 0 and not any(report["losses"].values()), report["losses"]
    assert report["session"]["sampled"] == 2000
    assert not lab.client.get(lab.path, "HasTarget")


@tap.case
def both_sides_are_joined(lab: Lab) -> None:
    lab.start()
    lab.record_all(lab.peerd.target())
    report = lab.report()
    assert not any(report["losses"].values()), report["losses"]
    assert joined(report) == report["session"]["sampled"] == 2000
    (target,) = report["targets"]
    assert (target["name"], target["kernel"], target["peer"]) == ("stor-a.example", "6.12.1-target", "stor-a"), target
    assert [h["boundary"] for h in target["hooks"]] == ["T1", "T9"]
    assert report["paths"][0]["target"] == 0
    read = next(g for g in report["groups"] if g["op"] == "read")
    commands = [c for c in lab.recording.commands if c.opcode == make_replay.OP_READ]
    storage = sum(c.target[7] - c.target[4] for c in commands) / len(commands)
    found = {s["id"]: s["mean_ns"] for s in read["stages"]}
    assert abs(found["storage"] - storage) < 1, (found, storage)
    assert abs(sum(found.values()) - read["latency"]["mean_ns"]) < 1, found


@tap.case
def the_request_says_what_is_recorded(lab: Lab) -> None:
    lab.start(duration_usec=1_500_000)
    target = lab.peerd.target()
    assert lab.peerd.asked == [{"subsysnqn": make_replay.SUBSYSNQN, "traddr": "10.0.0.2"}], lab.peerd.asked
    ((peer, request),) = lab.peerd.opened
    assert peer == "stor-a" and request["filters"] == [(make_replay.SUBSYSNQN, make_replay.HOSTNQN, make_replay.NSID)], request
    assert request["duration-usec"] == 1_500_000 and request["user"]
    assert request["transports"] == ["tcp"] and request["detail"] is False, request
    lab.record_all(target)
    lab.report()


@tap.case
def a_session_in_detail_asks_for_it(lab: Lab) -> None:
    lab.recording = make_replay.recording(detail=True)
    lab.start(detail=True)
    target = lab.peerd.target()
    assert lab.peerd.opened[0][1]["detail"] is True, lab.peerd.opened
    lab.record_all(target)
    lab.report()


@tap.case
def the_transports_are_those_of_the_paths(lab: Lab) -> None:
    lab.recording = make_replay.recording(transport="rdma")
    lab.start()
    target = lab.peerd.target()
    assert lab.peerd.opened[0][1]["transports"] == ["rdma"], lab.peerd.opened
    lab.record_all(target)
    assert joined(lab.report()) == 2000


@tap.case
def the_target_begins_first_and_ends_last(lab: Lab) -> None:
    lab.start(speed=20)
    target = lab.peerd.target()
    target.facts()
    target.wait(RESUME)
    assert [k for k, _ in target.heard] == [THRESHOLD, RESUME]
    assert struct.unpack("<2I", target.heard[0][1])[0] == make_replay.ALL
    assert lab.client.get(lab.path, "State") == "preparing"
    target.changed()
    lab.client.wait_state(lab.path, "recording", "joining")
    target.records(lab.records())
    target.wait(PAUSE)
    assert lab.client.get(lab.path, "State") == "joining"
    target.sync(lab.end_clock())
    target.ended()
    assert joined(lab.report()) == 2000


@tap.case
def properties_tell_of_it(lab: Lab) -> None:
    lab.start()
    target = lab.peerd.target()
    assert lab.client.get(lab.path, "Targets") == [("stor-a", "connecting", "")]
    assert lab.client.get(lab.path, "HasTarget") is False
    target.begin()
    lab.client.wait_state(lab.path, "recording")
    assert lab.client.get(lab.path, "Targets") == [("stor-a", "recording", "")]
    assert lab.client.get(lab.path, "HasTarget") is True
    hooks = lab.client.get(lab.path, "Hooks")
    assert ("stor-a: T1", "tp_btf", "nvmet_req_init") in hooks and ("H2", "tp_btf", "nvme_setup_cmd") in hooks, hooks
    target.records(lab.records())
    target.sync(lab.end_clock())
    target.wait(PAUSE)
    target.ended()
    lab.report()
    assert lab.client.get(lab.path, "Targets") == [("stor-a", "ended", "")]
    told = [a[1]["Targets"] for p, m, a in lab.client.signals if m == "PropertiesChanged" and "Targets" in a[1]]
    assert [t[0][1] for t in told if t][0] == "connecting" and told[-1][0][1] == "ended", told


@tap.case
def what_the_target_lost_is_counted(lab: Lab) -> None:
    lab.start()
    target = lab.peerd.target()
    target.begin()
    target.records(lab.records()[10:])
    target.sync(lab.end_clock(), recursion=3, link_full=4, counters={make_replay.RING_FULL: 5, 4: 6, 6: 7})
    target.wait(PAUSE)
    target.ended()
    report = lab.report()
    lost = {k: n for k, n in report["losses"].items() if n}
    assert lost == {"no_target": 10, "target_recursion": 3, "link_full": 4, "target_ring_full": 5, "target_map_full": 6,
                    "target_stale": 7}, lost


@tap.case
def no_peer_is_no_failure(lab: Lab) -> None:
    lab.peerd.find = refuse("NoPeer", "no paired machine is the target of 10.0.0.2: pair with it ('ntprofctl peer join')")
    lab.start()
    without_target(lab, "no paired machine is the target of 10.0.0.2: pair with it ('ntprofctl peer join')")


@tap.case
def a_refusal_is_told(lab: Lab) -> None:
    for name, message in (("PeerRefused", "stor-a allows host-a nothing"),
                          ("PeerUnreachable", "stor-a (10.0.0.2:4425) refuses"),
                          ("KernelUnsupported", "stor-a: no hook for T1")):
        lab.peerd.open = refuse(name, message)
        if lab.service.daemon:
            lab.service.stop()
        lab.start(speed=20)
        without_target(lab, message)


@tap.case
def an_unknown_error_is_told(lab: Lab) -> None:
    lab.peerd.open = refuse("com.example.Odd", "its \x1b[31m words")
    lab.start(speed=20)
    without_target(lab, "ntprof-peerd: its ?[31m words")


@tap.case
def a_peer_by_name_is_demanded(lab: Lab) -> None:
    lab.peerd.find = lambda where: where["peer"]
    lab.start(peer="stor-b")
    lab.record_all(lab.peerd.target())
    assert lab.peerd.asked == [{"peer": "stor-b"}] and lab.peerd.opened[0][0] == "stor-b"
    assert lab.report()["targets"][0]["peer"] == "stor-b"


@tap.case
def without_the_peer_by_name_there_is_no_session(lab: Lab) -> None:
    lab.peerd.find = refuse("NoPeer", "no paired machine is called stor-c")
    lab.start(peer="stor-c")
    assert lab.failed() == ("NoPeer", "nvme6n1: no paired machine is called stor-c")
    lab.peerd.find = lambda where: where["peer"]
    lab.peerd.open = refuse("PeerRefused", "stor-c allows this machine nothing")
    lab.path = lab.client.start(peer="stor-c")
    assert lab.failed() == ("PeerRefused", "nvme6n1: stor-c allows this machine nothing")
    lab.peerd.open = lambda peer, request: None
    lab.path = lab.client.start(peer="stor-c")
    lab.peerd.target().ended("CaptureFailed", "cannot attach")
    assert lab.failed() == ("CaptureFailed", "nvme6n1: stor-c: cannot attach")


@tap.case
def options_exclude_each_other(lab: Lab) -> None:
    lab.service.start(make_replay.recording())
    for options, message in (
            ({"peer": "a b"}, "peer: \"a b\" cannot be the name of a paired machine; 'ntprofctl peer list' shows them"),
            ({"peer": "stor-a", "no-target": GLib.Variant("b", True)}, "peer: goes not with no-target"),
            ({"peer": "stor-a"}, "peer: the target of nvme6n1 is this machine, by all its paths")):
        assert errors_of(lambda given=options: lab.client.start(**given)) == ("InvalidOption", message)
    assert lab.client.sessions() == {}


@tap.case
def no_target_asks_nobody(lab: Lab) -> None:
    lab.start(speed=20, no_target=True)
    report = lab.report()
    assert report["paths"][0]["target_reason"] == "the target's side was not asked for"
    assert lab.peerd.asked == [] and joined(report) == 0


@tap.case
def a_local_target_is_not_asked_for_elsewhere(lab: Lab) -> None:
    lab.service.start(lab.recording)
    lab.path = lab.client.start(sample="all")
    report = lab.report()
    assert lab.peerd.asked == [] and joined(report) == 2000 and report["targets"][0]["peer"] is None
    assert lab.client.get(lab.path, "Targets") == [("", "ended", "")]
    lab.path = lab.client.start(sample="all", no_target=True)
    assert joined(lab.report()) == 0


@tap.case
def a_link_that_is_cut_ends_the_target_only(lab: Lab) -> None:
    lab.start()
    target = lab.peerd.target()
    target.begin()
    half = lab.recording.start + 1_000_000_000
    before = [c for c in lab.recording.commands if c.submitted < half]
    target.records(lab.records()[:len(before)])
    target.sync(half + OFFSET)
    lab.client.wait_state(lab.path, "recording")
    spin(lambda: lab.client.get(lab.path, "RecordedUSec") > 1_200_000, "more than half to be recorded")
    target.close()
    spin(lambda: lab.client.get(lab.path, "Targets")[0][1] == "ended", "the target to have ended")
    assert lab.client.get(lab.path, "Targets") == [("stor-a", "ended", "stor-a: the link was cut")]
    report = lab.report()
    assert report["session"]["sampled"] == 2000 and report["session"]["duration_ns"] == 2_000_000_000
    assert joined(report) == len(before), (joined(report), report["losses"])
    assert report["losses"]["target_gone"] == 2000 - len(before) and report["losses"]["no_target"] == 0, report["losses"]
    assert report["targets"][0]["ended_early"] == "stor-a: the link was cut"
    assert 1_200_000_000 <= report["targets"][0]["recorded_ns"] < 2_000_000_000


@tap.case
def a_target_that_ends_with_an_error_says_so(lab: Lab) -> None:
    lab.start()
    target = lab.peerd.target()
    target.begin()
    target.ended("ShuttingDown", "its ntprofd was stopped\n")
    report = lab.report()
    assert report["targets"][0]["ended_early"] == "stor-a: its ntprofd was stopped?"
    assert report["losses"]["target_gone"] == 2000, report["losses"]


def malformed(good: bytes) -> Iterator[tuple[str, bytes]]:
    """What may not come after WIRE_FACTS, WIRE_CHANGED; good is a record."""
    yield "type", frame(99)
    yield "size", frame(SYNC, b"x" * 8)
    yield "large", struct.pack("<2I", RECORDS, 1 << 30)
    yield "host's", frame(PAUSE)
    yield "twice", frame(FACTS, b"{}")
    yield "torn", frame(RECORDS, good[:-8])
    yield "kind", frame(RECORDS, b"\x01" + good[1:])
    yield "filter", frame(RECORDS, good[:22] + b"\x01" + good[23:])
    yield "nsid", frame(RECORDS, good[:32] + b"\x07" + good[33:])
    yield "hash", frame(RECORDS, good[:8] + bytes([good[8] ^ 1]) + good[9:])
    yield "times", frame(RECORDS, good[:48] + b"\xff" * 88 + good[136:])
    yield "ended", frame(ENDED, b"[")
    yield "a threshold more than it was given", frame(CHANGED, struct.pack("<Q2I", 1, make_replay.ALL, 0))
    yield "clock", frame(SYNC, struct.pack("<4Q12Q", 1 << 62, *[0] * 15))


@tap.case
def what_is_malformed_ends_the_target_only(lab: Lab) -> None:
    lab.start(speed=20)
    for index, (what, data) in enumerate(malformed(lab.records()[0])):
        if index > 0:
            lab.path = lab.client.start(sample="all")
        target = lab.peerd.target(index)
        target.begin()
        target.send(data)
        target.wait_closed()
        report = lab.report()
        reason = report["targets"][0]["ended_early"]
        assert reason.startswith("stor-a: ") and "the two versions" in reason, (what, reason)
        assert report["session"]["sampled"] == 2000 and joined(report) == 0, what


@tap.case
def what_the_target_says_of_its_drive_is_text(lab: Lab) -> None:
    lab.recording = make_replay.recording(detail=True, drive_hidden="here, where no target is")
    lab.start(detail=True)
    target = lab.peerd.target()
    lab.record_all(target, drive_hidden="a file\n\x1b[2J" + "x" * 1000)
    report = lab.report()
    said = report["targets"][0]["drive_hidden"]
    assert said.startswith("a file??[2Jxxx") and len(said) <= 256, said
    storage = next(s for s in report["groups"][0]["stages"] if s["id"] == "storage")
    assert {c["mean_ns_reason"] for c in storage["components"]} == {said}, storage


@tap.case
def garbage_facts_are_refused(lab: Lab) -> None:
    lab.start(speed=20)
    hook = {"boundary": "T1", "mechanism": "tp_btf", "symbol": "x"}
    good = {"machine": "a", "kernel": "b", "version": "c", "hooks": [hook]}
    bad = [b"{", b"[]", b"\xff{}", b"{}", b"[" * 60000, b"{\"machine\": /* */ 1}", *(json.dumps(g).encode() for g in (
        {**good, "machine": ""}, {**good, "machine": 5}, {**good, "kernel": None}, {**good, "hooks": {}},
        {**good, "hooks": [1]}, {**good, "hooks": [{}]}, {**good, "hooks": [hook] * 65}, {**good, "drive_hidden": 7},
        {**good, "drive_hidden": ""}, {**good, "drive_hidden": ["x"]}, {k: v for k, v in good.items() if k != "version"}))]
    for index, data in enumerate(bad):
        if index > 0:
            lab.path = lab.client.start(sample="all")
        target = lab.peerd.target(index)
        target.send(frame(FACTS, data))
        target.wait_closed()
        report = lab.report()
        assert report["targets"] == [], (data, report["targets"])
        reason = report["paths"][0]["target_reason"]
        assert reason.startswith("the target is another machine (10.0.0.2): stor-a: its facts "), (data, reason)


@tap.case
def odd_names_are_made_printable(lab: Lab) -> None:
    lab.start(speed=20)
    target = lab.peerd.target()
    target.facts(machine="a\x1b[2J\n" + "n" * 1000, kernel="é" * 500)
    target.wait(RESUME)
    target.changed()
    target.wait(PAUSE)
    target.ended()
    (told,) = lab.report()["targets"]
    assert told["name"].startswith("a?[2J?nnn") and len(told["name"]) == 64
    assert told["kernel"] == "é" * 32


@tap.case
def out_of_turn_is_refused(lab: Lab) -> None:
    lab.start(speed=20)
    for index, data in enumerate((frame(CHANGED, bytes(16)), frame(ENDED, b'{"error": null}'))):
        if index > 0:
            lab.path = lab.client.start(sample="all")
        target = lab.peerd.target(index)
        target.send(data)
        target.wait_closed()
        report = lab.report()
        assert report["targets"] == [] and "stor-a" in report["paths"][0]["target_reason"], report["paths"]


@tap.case
def thresholds_go_to_both(lab: Lab) -> None:
    lab.recording = make_replay.recording(seconds=3, rate=1600)
    lab.start(speed=1, sample="auto")
    target = lab.peerd.target()
    target.begin()
    first = struct.unpack("<2I", target.heard[0][1])[0]
    assert first == 2 ** 32 // 256
    every = struct.pack("<2I", make_replay.ALL, 0)
    spin(lambda: (THRESHOLD, every) in target.heard, "a threshold of all")
    # There it is in force late. What the host chose before, and the target did not, is told as that.
    half = lab.recording.start + 2_000_000_000
    target.changed(half + OFFSET)
    target.records(target_records([c for c in lab.recording.commands if c.submitted + c.target[1] >= half or c.hash() < first],
                                  OFFSET))
    target.sync(lab.end_clock())
    target.wait(PAUSE)
    target.ended()
    report = lab.report()
    assert 1600 <= joined(report) < 1650 and report["losses"]["threshold"] > 400, (joined(report), report["losses"])
    assert report["losses"]["no_target"] == 0 and report["session"]["threshold"] == make_replay.ALL, report["losses"]


@tap.case
def stop_and_cancel_wait_for_no_target(lab: Lab) -> None:
    begun = time.monotonic()
    lab.peerd.open = lambda peer, request: "never"
    lab.start()
    spin(lambda: bool(lab.peerd.opened), "the target to be asked")
    lab.client.call(lab.path, "org.ntprof1.Session", "Stop")
    report = lab.report()
    assert report["targets"] == [] and "stopped before it was ready" in report["paths"][0]["target_reason"], report["paths"]
    lab.peerd.open = lambda peer, request: None
    for index, until in enumerate(("opened", "ready", "resumed", "recording")):
        lab.path = lab.client.start(sample="all")
        target = lab.peerd.target(index)
        if until != "opened":
            target.facts()
            target.wait(RESUME)
        if until == "recording":
            target.changed()
            lab.client.wait_state(lab.path, "recording")
        lab.client.call(lab.path, "org.ntprof1.Session", "Cancel")
        target.wait_closed()
        assert lab.failed() == ("cancelled", "")
    assert time.monotonic() - begun < 25


@tap.case
def a_caller_that_goes_takes_the_target_along(lab: Lab) -> None:
    other = lab.service.client()
    lab.service.start(make_replay.recording(has_target=False), speed=1)
    other.start(sample="all")
    target = lab.peerd.target()
    target.begin()
    other.close()
    target.wait_closed()


@tap.case
def a_daemon_that_ends_closes_the_stream(lab: Lab) -> None:
    lab.start(speed=1)
    target = lab.peerd.target()
    target.begin()
    lab.client.wait_state(lab.path, "recording")
    lab.service.stop()
    target.wait_closed()


@tap.case
def a_target_that_does_not_end_is_given_up(lab: Lab) -> None:
    lab.start(speed=20)
    target = lab.peerd.target()
    target.begin()
    target.records(lab.records())
    target.sync(lab.end_clock())
    target.wait(PAUSE)
    begun = time.monotonic()
    report = lab.report()
    assert 4 < time.monotonic() - begun < 20
    assert report["targets"][0]["ended_early"] == "stor-a did not answer at the end", report["targets"]
    assert joined(report) == 2000, report["losses"]
    target.wait_closed()


@tap.case
def a_flood_leaves_the_daemon_answering(lab: Lab) -> None:
    lab.start(speed=1, sample="all")
    target = lab.peerd.target()
    target.begin()
    lab.client.wait_state(lab.path, "recording")
    flood = frame(RECORDS, lab.records()[0] * 300) * 200
    target.socket.setblocking(False)
    slowest, begun, sent = 0.0, time.monotonic(), 0
    while time.monotonic() - begun < 1.5:
        with contextlib.suppress(BlockingIOError):
            sent += target.socket.send(flood[sent % len(flood):])
        asked = time.monotonic()
        lab.client.get(lab.path, "State")
        slowest = max(slowest, time.monotonic() - asked)
    assert sent > 10 << 20 and slowest < 3, (sent, slowest)
    rss = next(int(line.split()[1]) for line in open(f"/proc/{lab.service.daemon.pid}/status") if line.startswith("VmRSS"))
    assert rss < 600_000, f"{rss} kB"
    target.close()
    assert lab.report()["session"]["sampled"] == 2000


tap.main(lab)
