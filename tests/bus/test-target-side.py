#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ntprofd records the target's side for another machine: the test is ntprof-peerd and the host's ntprofd behind it."""

from __future__ import annotations

import contextlib
import random
import struct
import time
from collections.abc import Iterator
from pathlib import Path

from gi.repository import GLib

import make_replay
import tap
import wire
from service import ROOT, Client, Service, errors_of, private_bus, wait_until

INTERNAL, TARGET = f"{ROOT}/internal", "org.ntprof1.internal.Target"
FINGERPRINT = "sha256-" + "0123456789abcdef" * 4


class Target:
    """A daemon with peers' files of its own."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.peers = service.folder / "peers.d"
        self.peers.mkdir(mode=0o755)
        self.client: Client | None = None
        self.streams: list[wire.Stream] = []

    def start(self, recording: make_replay.Recording | None = None, speed: float = 20, arguments: tuple = (),
              **keys: str) -> Client:
        self.peer("host-a", HostNQN=make_replay.HOSTNQN, **keys)
        self.service.start(recording, speed=speed, arguments=("--peers-dir", self.peers, *arguments))
        self.client = self.service.client()
        return self.client

    def peer(self, name: str, **keys: str) -> Path:
        path = self.peers / f"{name}.conf"
        path.write_text("[Peer]\n" + "".join(f"{key}={value}\n" for key, value in keys.items()))
        path.chmod(0o644)
        return path

    def open(self, name: str = "host-a", filters: object = None, peer: dict | None = None, **request: object) -> wire.Stream:
        assert self.client
        if filters is None:
            filters = [(make_replay.SUBSYSNQN, make_replay.HOSTNQN, make_replay.NSID)]
        who = {"name": GLib.Variant("s", name), "fingerprint": GLib.Variant("s", FINGERPRINT),
               "address": GLib.Variant("s", "10.0.0.1:4425"), **(peer or {})}
        asked = {"filters": GLib.Variant("a(ssu)", filters), "user": GLib.Variant("s", "alice"), **request}
        who = {key: value for key, value in who.items() if value is not None}
        (index,), fds = self.client.call_fds(INTERNAL, TARGET, "OpenTarget", GLib.Variant("(a{sv}a{sv})", (who, asked)))
        stream = wire.Stream(fds[index])
        self.streams.append(stream)
        return stream

    def refused(self, **how: object) -> tuple[str, str]:
        return errors_of(lambda: self.open(**how))

    def open_files(self) -> int:
        assert self.service.daemon
        return len(list(Path(f"/proc/{self.service.daemon.pid}/fd").iterdir()))

    def memory(self) -> int:
        """Bytes that are resident, without those of files."""
        assert self.service.daemon
        text = Path(f"/proc/{self.service.daemon.pid}/status").read_text()
        return int(text.split("RssAnon:")[1].split()[0]) * 1024


@contextlib.contextmanager
def target() -> Iterator[Target]:
    with private_bus() as service:
        made = Target(service)
        try:
            yield made
        finally:
            for stream in made.streams:
                stream.close()


def to_the_end(stream: wire.Stream, recording: make_replay.Recording) -> None:
    stream.wait(lambda: bool(stream.syncs) and stream.syncs[-1]["target_ns"] >= recording.end, "the recording's end")


def hash_of(record: bytes) -> int:
    return struct.unpack_from("<I", record, 8)[0]


@tap.case
def every_record_comes_as_it_was(target: Target) -> None:
    recording = make_replay.recording(drive_hidden="the namespace is a file")
    target.start(recording)
    stream = target.open()
    stream.begin()
    assert stream.facts == {
        "machine": "host-a", "kernel": "6.1.0-test-amd64", "version": stream.facts["version"],
        "hooks": [{"boundary": "T1", "mechanism": "tp_btf", "symbol": "nvmet_req_init"},
                  {"boundary": "T9", "mechanism": "fexit", "symbol": "kernel_sendpage"}],
        "drive_hidden": "the namespace is a file"}
    assert stream.changed == [(0, wire.ALL)]
    to_the_end(stream, recording)
    stream.finish()
    assert stream.ended == {"error": None, "message": None}
    expected = [c.target_record() for c in sorted(recording.commands, key=lambda c: c.submitted + c.latency())]
    assert stream.records == expected, (len(stream.records), len(expected))
    last = stream.syncs[-1]
    assert last["counters"][make_replay.COMMANDS] == last["counters"][make_replay.EMITTED] == len(expected)
    assert last["link_full"] == 0 and last["in_flight"] == 0
    times = [s["target_ns"] for s in stream.syncs]
    assert times == sorted(times) and times[0] >= recording.start and times[-1] == recording.end


@tap.case
def a_sync_tells_what_is_complete(target: Target) -> None:
    """At the time of a WIRE_SYNC all that was answered before its target_ns had come."""
    recording = make_replay.recording()
    target.start(recording, speed=2)
    stream = target.open()
    stream.begin()
    done = sorted(c.submitted + c.target[9] for c in recording.commands)
    for number in range(1, 5):
        stream.wait(lambda: len(stream.syncs) >= number, "a WIRE_SYNC")
        complete = sum(1 for t in done if t + 100_000 < stream.syncs[-1]["target_ns"])
        assert len(stream.records) >= complete, (len(stream.records), complete)
    stream.finish()
    assert 0 < len(stream.records) < len(done), "it was paused half-way"


@tap.case
def filters_of_others_give_nothing(target: Target) -> None:
    recording = make_replay.recording(seconds=0.2)
    target.start(recording)
    stream = target.open(filters=[("nqn.other", make_replay.HOSTNQN, 1), (make_replay.SUBSYSNQN, make_replay.HOSTNQN, 2)])
    stream.begin()
    to_the_end(stream, recording)
    stream.finish()
    assert stream.records == [] and stream.syncs[-1]["counters"] == [0] * make_replay.N_COUNTERS


@tap.case
def what_is_not_granted_is_refused(target: Target) -> None:
    target.start(make_replay.recording(seconds=0.1))
    mine = target.peers / "host-a.conf"
    name, message = target.refused(name="host-b")
    assert name == "PeerRefused", (name, message)
    assert message == f"host-a: host-b is not confirmed (no HostNQN= in {target.peers}/host-b.conf): run 'ntprofctl peer confirm host-b' there"
    name, message = target.refused(filters=[(make_replay.SUBSYSNQN, "nqn.host-z", 1)])
    assert name == "PeerRefused" and "nqn.host-z is not host-a's there" in message and str(mine) in message, message
    target.peer("host-c", HostNQN=make_replay.HOSTNQN)
    name, message = target.refused()
    assert name == "PeerRefused" and "neither may have it recorded" in message, message
    (target.peers / "host-c.conf").unlink()
    target.peer("host-a", HostNQN=make_replay.HOSTNQN, Fingerprint="sha256-" + "f" * 64)
    name, message = target.refused()
    assert name == "PeerRefused" and f"the certificate of host-a is {FINGERPRINT}" in message, message
    target.peer("host-a", HostNQN=make_replay.HOSTNQN, Allow="none")
    assert "Allow=none" in target.refused()[1]
    target.peer("host-a", HostNQN=make_replay.HOSTNQN).chmod(0o666)
    name, message = target.refused()
    assert name == "PeerRefused" and "journalctl -u ntprofd" in message, message
    # each was looked up anew
    target.peer("host-a", HostNQN=make_replay.HOSTNQN)
    target.open().begin()
    text = target.service.stop()
    assert text.count("ntprofd: Refused host-") == 6, text
    assert f"Refused host-b (10.0.0.1:4425, {FINGERPRINT}, user alice): host-a: host-b is not confirmed (no HostNQN=" in text, text
    assert "others than its owner may write it" in text, text


@tap.case
def a_request_that_makes_no_sense_is_named(target: Target) -> None:
    target.start(make_replay.recording(seconds=0.1))
    one = (make_replay.SUBSYSNQN, make_replay.HOSTNQN, 1)
    text = GLib.Variant("s", "x")
    for how, word in (({"filters": []}, "filters: at least one"), ({"filters": [one] * 9}, "filters: more than 8"),
                      ({"filters": [("a b", make_replay.HOSTNQN, 1)]}, "filters: subsystem NQN"),
                      ({"filters": [(make_replay.SUBSYSNQN, "nqn." + "x" * 220, 1)]}, "filters: host NQN"),
                      ({"filters": [(make_replay.SUBSYSNQN, make_replay.HOSTNQN, 0)]}, "filters: 0 is no namespace"),
                      ({"duration-usec": text}, "duration-usec: its value has type s"),
                      ({"detail": text}, "detail: its value has type s, not b"),
                      ({"transports": GLib.Variant("as", ["tcp", "fc\n"])}, 'transports: this version cannot measure "fc\\n", only tcp, rdma'),
                      ({"transports": GLib.Variant("as", [])}, "transports: none is given"),
                      ({"transports": text}, "transports: its value has type s, not as"),
                      ({"more": text}, '"more": no such option'),
                      ({"peer": {"name": GLib.Variant("s", "../x")}}, 'name: "../x"'),
                      ({"peer": {"name": None}}, "name: this option"),
                      ({"peer": {"fingerprint": text}}, 'fingerprint: "x"'),
                      ({"peer": {"address": GLib.Variant("u", 1)}}, "address:")):
        name, message = target.refused(**how)
        assert name == "InvalidOption" and message.startswith(word), (how, name, message)


@tap.case
def a_recording_without_the_targets_side_has_none(target: Target) -> None:
    client = target.start(make_replay.recording(seconds=0.1, has_target=False))
    name, message = target.refused()
    assert name == "KernelUnsupported" and "host's side only" in message, (name, message)
    facts = client.call(INTERNAL, TARGET, "Describe")[0]
    assert facts == {"subsystems": [], "addresses": [], "host-nqns": [make_replay.HOSTNQN]}, facts


@tap.case
def it_describes_its_machine(target: Target) -> None:
    client = target.start(make_replay.recording(seconds=0.1))
    facts = client.call(INTERNAL, TARGET, "Describe")[0]
    expected = {"subsystems": [make_replay.SUBSYSNQN], "addresses": ["10.0.0.2"], "host-nqns": [make_replay.HOSTNQN]}
    assert facts == expected, facts


@tap.case
def a_host_that_goes_away_leaves_nothing(target: Target) -> None:
    target.start(make_replay.recording(seconds=60, rate=50), speed=1)
    target.open().begin()
    target.streams.pop().close()
    time.sleep(0.3)
    before = target.open_files()
    for number in range(50):
        stream = target.open()
        if number % 3:
            stream.wait(lambda s=stream: s.facts is not None, "WIRE_FACTS")
        if number % 3 == 2:
            stream.begin()
        stream.close()
        target.streams.remove(stream)
        wait_until(lambda: target.open_files() <= before, "the daemon to let go")
    text = target.service.stop()
    assert text.count("Recording for host-a (") == 2 * 51 and text.count(" ended after ") == 51, text
    assert text.count("the host went away") == 51, text


@tap.case
def what_breaks_the_protocol_ends_the_stream(target: Target) -> None:
    target.start(make_replay.recording(seconds=60, rate=50), speed=1)
    chance = random.Random(7)
    broken = [struct.pack("<2I", 99, 0), struct.pack("<2I", 1, 0xFFFFFFFF), struct.pack("<2I", 1, 7) + b"x" * 7,
              struct.pack("<2I", 2, 0), struct.pack("<2I", wire.RECORDS, 192) + b"x" * 192,
              struct.pack("<2I", wire.SYNC, 128) + b"x" * 128]
    broken += [chance.randbytes(chance.randrange(8, 200)) for _ in range(20)]
    for data in broken:
        stream = target.open()
        stream.wait(lambda s=stream: s.facts is not None, "WIRE_FACTS")
        stream.socket.sendall(data)
        stream.wait_end()
        assert stream.ended is None, (data, stream.ended)
        stream.close()
    text = target.service.stop()
    assert text.count("the host broke the protocol: ") == len(broken), text


@tap.case
def who_does_not_read_costs_8_mib_and_is_told_what_was_dropped(target: Target) -> None:
    recording = make_replay.recording(seconds=1, rate=80_000)       # 13 MB of records
    recording.end += 1_000_000      # so that the last of them is answered by then
    target.start(recording, speed=1)
    idle = target.open()
    idle.wait(lambda: idle.facts is not None, "WIRE_FACTS")
    before = target.memory()
    stream = target.open()
    stream.begin()
    time.sleep(4)
    grown = target.memory() - before
    assert grown < 24 << 20, f"{grown >> 20} MiB"
    stream.finish()
    last = stream.syncs[-1]
    assert last["link_full"] > 0 and last["counters"][make_replay.EMITTED] == 80_000, last
    assert len(stream.records) + last["link_full"] == 80_000, (len(stream.records), last)
    assert 6 << 20 < len(stream.records) * wire.RECORD_SIZE < 10 << 20
    expected = {c.target_record() for c in recording.commands}
    assert set(stream.records) <= expected and len(set(stream.records)) == len(stream.records)


@tap.case
def a_fifth_recording_for_one_peer_is_refused(target: Target) -> None:
    target.start(make_replay.recording(seconds=60, rate=50), speed=1)
    streams = [target.open() for _ in range(4)]
    name, message = target.refused()
    assert name == "TooManySessions" and message == "host-a: 4 recordings for host-a run there already: stop one first", message
    for stream in streams:
        stream.begin()
    streams[0].finish()
    assert streams[0].ended == {"error": None, "message": None}
    wait_until(lambda: opens(target), "room for another")


def opens(target: Target) -> bool:
    try:
        target.open()
    except GLib.Error:
        return False
    return True


@tap.case
def the_administrator_limits_the_rate(target: Target) -> None:
    recording = make_replay.recording(seconds=1, rate=2000)
    target.start(recording, MaxSampleRate="1/4")
    stream = target.open()
    stream.begin()
    to_the_end(stream, recording)
    stream.finish()
    assert stream.changed == [(0, 1 << 30)]
    expected = [c for c in recording.commands if c.hash() < 1 << 30]
    assert len(stream.records) == len(expected) and all(hash_of(r) < 1 << 30 for r in stream.records)
    assert all(struct.unpack_from("<I", r, 12)[0] == 1 << 30 for r in stream.records), "the threshold in force is in the record"


@tap.case
def the_administrator_limits_the_time(target: Target) -> None:
    target.start(make_replay.recording(seconds=60, rate=50), speed=1, MaxSessionSec="1")
    stream = target.open()
    stream.begin()
    began = time.monotonic()
    stream.wait_end()
    assert 0.5 < time.monotonic() - began < 20
    message = f"host-a ended the recording: MaxSessionSec=1 in {target.peers}/host-a.conf"
    assert stream.ended == {"error": None, "message": message}
    assert stream.records and stream.syncs[-1]["target_ns"] > make_replay.recording().start


@tap.case
def its_end_ends_the_recordings(target: Target) -> None:
    target.start(make_replay.recording(seconds=60, rate=50), speed=1)
    stream = target.open(**{"duration-usec": GLib.Variant("t", 2 ** 64 - 1)})
    stream.begin()
    text = target.service.stop()
    stream.wait_end()
    assert stream.ended == {"error": "ShuttingDown", "message": "host-a: its ntprofd was ended while it recorded"}, stream.ended
    assert "ended after" in text and "the service was ended" in text, text


@tap.case
def it_stays_while_it_records_for_another(target: Target) -> None:
    target.start(make_replay.recording(seconds=60, rate=50), speed=1, arguments=("--exit-on-idle", "1"))
    stream = target.open()
    stream.begin()
    time.sleep(2.5)
    assert target.service.daemon and target.service.daemon.poll() is None
    stream.finish()
    _, text = target.service.daemon.communicate(timeout=60)
    assert target.service.daemon.returncode == 0 and "ended as the host asked" in text, text
    target.service.daemon = None


@tap.case
def text_of_others_does_not_forge_the_journal(target: Target) -> None:
    target.start(make_replay.recording(seconds=0.1))
    stream = target.open(user=GLib.Variant("s", "alice\nntprofd: Recording for root\x1b[2J" + "x" * 1000),
                         peer={"address": GLib.Variant("s", "10.0.0.1\rx")})
    stream.begin()
    stream.finish()
    text = target.service.stop()
    lines = text.splitlines()
    assert len(lines) == 2 and all(line.startswith("ntprofd: Recording for host-a (10.0.0.1?x, ") for line in lines), text
    assert "user alice?ntprofd: Recording for root?[2J" in lines[0] and "\x1b" not in text and len(lines[0]) < 1000, text


@tap.case
def the_journal_tells_what_is_in_detail(target: Target) -> None:
    target.start(make_replay.recording(seconds=0.1, detail=True))
    for detail in (False, True):
        stream = target.open(detail=GLib.Variant("b", detail), transports=GLib.Variant("as", ["tcp"]))
        stream.begin()
        stream.finish()
    text = target.service.stop()
    told = [line.endswith("namespace 1, in detail") for line in text.splitlines() if ": nqn." in line]
    assert told == [False, True], text


@tap.case
def what_was_not_recorded_in_detail_is_not_had_so(target: Target) -> None:
    target.start(make_replay.recording(seconds=0.1))
    name, message = target.refused(detail=GLib.Variant("b", True))
    assert name == "KernelUnsupported" and message == "host-a: the recording it replays was made without detail", (name, message)


@tap.case
def it_records_for_another_and_for_itself_at_once(target: Target) -> None:
    recording = make_replay.recording(seconds=1)
    client = target.start(recording, speed=1)
    session = client.start(sample="all")
    stream = target.open()
    stream.begin()
    client.wait_state(session, "finished")
    assert client.get(session, "Joined") == 1000, client.get_all(session)
    to_the_end(stream, recording)
    stream.finish()
    assert len(stream.records) == 1000


tap.main(target)
