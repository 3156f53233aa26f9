#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The program itself: arguments, files it cannot trust, signals, a bus that goes away."""

import json
import os
import random
import re
import struct
import subprocess
import time
from pathlib import Path

import make_replay
import tap
from service import NTPROFD, OBJECT_MANAGER, ROOT, SESSION, Service, errors_of, private_bus, spin, stopped, wait_until


@tap.case
def help_and_version(service: Service) -> None:
    for option, text in (("--help", "--replay"), ("--version", "ntprofd ")):
        result = subprocess.run([NTPROFD, option], capture_output=True, text=True, timeout=60, check=False)
        assert result.returncode == 0 and text in result.stdout and not result.stderr, result


@tap.case
def the_man_page_has_the_same_options(service: Service) -> None:
    page = (Path(os.environ.get("NTPROF_SOURCE", ".")) / "docs/man/ntprofd.8.rst").read_text()
    documented = set(re.findall(r"^(--[a-z][a-z-]+)", page, re.MULTILINE))
    helped = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", service.run("--help").stdout, re.MULTILINE))
    assert documented == helped, documented ^ helped


@tap.case
def wrong_arguments_are_named(service: Service) -> None:
    for arguments, text in ((["--foo"], "--foo"), (["extra"], "extra"), (["--json"], "--json"), (["--replay"], "--replay"),
                            (["--replay-speed", "2"], "--replay-speed"), (["--exit-on-idle", "x"], "x"),
                            (["--replay", "f", "--replay-speed", "0"], "--replay-speed"),
                            (["--replay", "f", "--replay-speed", "nan"], "--replay-speed"),
                            (["--inspect", "--record", "f"], "--record"), (["--inventory", "f"], "--inspect")):
        result = subprocess.run([NTPROFD, *arguments], capture_output=True, text=True, timeout=60, check=False)
        assert result.returncode == 2 and text in result.stderr and result.stderr.count("\n") == 1, result


@tap.case
def a_bus_that_is_not_there_is_an_error(service: Service) -> None:
    recording = service.recording(make_replay.recording())
    result = subprocess.run([NTPROFD, "--bus", "unix:path=/nonexistent", "--replay", str(recording)], capture_output=True,
                            text=True, timeout=60, check=False)
    assert result.returncode == 1 and "unix:path=/nonexistent" in result.stderr, result


@tap.case
def a_second_daemon_is_told_of_the_first(service: Service) -> None:
    service.start()
    result = service.run("--replay", service.recording(make_replay.recording()))
    assert result.returncode == 1 and "another ntprofd" in result.stderr, result


def refused(service: Service, data: bytes, text: str, name: str = "bad.ntprof") -> None:
    path = service.folder / name
    path.write_bytes(data)
    result = service.run("--replay", path)
    assert result.returncode == 1 and text in result.stderr and str(path) in result.stderr, (text, result)
    assert result.stderr.count("\n") == 1, result.stderr


@tap.case
def a_file_that_is_no_recording_is_refused(service: Service) -> None:
    good = make_replay.recording(seconds=0.05).bytes()
    refused(service, b"", "offset 0: not a recording")
    refused(service, b"#!/bin/sh\n" * 10, "offset 0: not a recording")
    refused(service, good[:8] + struct.pack("<I", 2) + good[12:], "offset 8: version 2")
    refused(service, good[:12] + struct.pack("<I", 0xFFFFFFF0) + good[16:], "offset 12: facts of 4294967280 bytes")
    refused(service, good[:12] + struct.pack("<I", len(good)) + good[16:], "offset 12: facts of")
    for missing in ("/nonexistent.ntprof", str(service.folder)):
        result = service.run("--replay", missing)
        assert result.returncode == 1 and missing in result.stderr, result


@tap.case
def a_truncated_file_is_refused_with_the_offset(service: Service) -> None:
    good = make_replay.recording(seconds=0.05).bytes()
    facts = 16 + len(make_replay.recording().bytes()) - len(make_replay.recording().bytes()) + struct.unpack("<I", good[12:16])[0]
    first = (facts + 7) // 8 * 8
    for end in (first + 4, first + 8, first + 30, len(good) - 1, len(good) - 9):
        refused(service, good[:end], "the file ends within a frame")
    # between two frames it is what a daemon that was killed leaves
    service.start(Path(whole(service, good[:len(good) - 16])))


def whole(service: Service, data: bytes) -> str:
    path = service.folder / "whole.ntprof"
    path.write_bytes(data)
    return str(path)


@tap.case
def hostile_frames_are_refused(service: Service) -> None:
    recording = make_replay.recording(seconds=0.01)
    good = recording.bytes()
    end = struct.pack("<2IQ", make_replay.FRAME_END, 8, recording.end)
    body = good[:-len(end)]

    def frame(kind: int, data: bytes) -> bytes:
        return struct.pack("<2I", kind, len(data)) + data + b"\0" * (-len(data) % 8)

    refused(service, body + frame(99, b"x" * 8), "a frame of type 99")
    refused(service, body + struct.pack("<2I", 1, 0xFFFFFFFF), "a frame of type 1 cannot have 4294967295 bytes")
    refused(service, body + struct.pack("<2I", 3, 0xFFFFFFF0) + b"x" * 100, "a frame of type 3 cannot have 4294967280 bytes")
    refused(service, body + frame(1, b"x" * 151), "a frame of type 1 cannot have 151 bytes")
    refused(service, body + frame(3, struct.pack("<5Q2I", 0, 0, 0, 0, 0, 10, 0xFFFFFFFF)), "contradict")
    refused(service, body + frame(3, struct.pack("<5Q2I", 0, 0, 0, 0, 0, 10, 1) + b"\0" * 176), "contradict")
    refused(service, body + frame(4, struct.pack("<3Q2I", 0, 0, 0, 0, 4)), "contradict")
    refused(service, body + frame(4, struct.pack("<3Q2I", 0, 0, 0, 0, 4) + b"\xff\xfe\xfd\xfc"), "contradict")
    refused(service, body + end + end, "follows the end")
    refused(service, body + frame(5, struct.pack("<Q", 2 ** 64 - 1)), "a time beyond any uptime")
    refused(service, body + frame(5, struct.pack("<Q", 5)), "it ends before it starts")


@tap.case
def hostile_facts_are_refused(service: Service) -> None:
    def with_facts(**facts: object) -> bytes:
        recording = make_replay.recording(seconds=0.01)
        recording.facts = facts
        return recording.bytes()

    def with_namespace(**changes: object) -> bytes:
        return with_facts(namespace={**make_replay.recording().all_facts()["namespace"], **changes})

    path = make_replay.recording().all_facts()["namespace"]["paths"][0]
    refused(service, with_facts(schema="org.ntprof.report/1"), "its schema is")
    refused(service, with_facts(record_version=1), '"record_version"')
    refused(service, with_facts(start_ns=-1), '"start_ns"')
    refused(service, with_facts(machine=7), '"machine"')
    refused(service, with_facts(hooks=[{}]), '"boundary" of the hook')
    refused(service, with_facts(hooks={}), '"hooks"')
    refused(service, with_facts(namespace=[]), '"namespace"')
    refused(service, with_namespace(name="../../etc/passwd"), '"name" of the namespace')
    refused(service, with_namespace(paths=[]), '"paths"')
    refused(service, with_namespace(paths=[path] * 9), '"paths"')
    refused(service, with_namespace(paths=[{**path, "hostnqn": "x" * 224}]), '"hostnqn"')
    refused(service, with_namespace(paths=[{**path, "disk": "sda"}]), '"disk"')
    refused(service, with_namespace(paths=[{**path, "transport": "fc"}]), '"transport"')
    refused(service, with_namespace(drive_hidden=7), '"drive_hidden"')
    good = make_replay.recording(seconds=0.01).bytes()
    for text, why in ((b"[" * 100000, "nested deeper"), (b"{", "not JSON"), (b"[]", "not a JSON object"), (b"\xff\xff", "not UTF-8")):
        padded = text + b"\0" * (-len(text) % 8)
        refused(service, good[:12] + struct.pack("<I", len(text)) + padded, why)


@tap.case
def garbage_never_crashes_it(service: Service) -> None:
    """Random bytes over a good file: it serves it or refuses it in one line."""
    good = make_replay.recording(seconds=0.02).bytes()
    chance = random.Random(1)
    for _ in range(25):
        data = bytearray(good)
        for _ in range(chance.randrange(1, 6)):
            at = chance.choice([chance.randrange(len(data)), chance.randrange(min(64, len(data)))])
            data[at] = chance.randrange(256)
        path = service.folder / "garbage.ntprof"
        path.write_bytes(data)
        result = subprocess.run([NTPROFD, "--replay", str(path), "--inspect"], capture_output=True, text=True, timeout=60,
                                check=False)
        assert result.returncode in (0, 1) and result.stderr.count("\n") <= 1, result
        if result.returncode == 0:
            service.start(path, speed=100)
            client = service.client()
            session = client.start(namespace=client_namespace(path), sample="all")
            client.wait_state(session, "finished", "failed")
            client.close()
            service.stop()


def client_namespace(path: Path) -> str:
    """As the file says now."""
    data = path.read_bytes()
    size = struct.unpack("<I", data[12:16])[0]
    return json.loads(data[16:16 + size])["namespace"]["name"]


@tap.case
def malformed_records_are_counted_not_used(service: Service) -> None:
    recording = make_replay.recording(seconds=0.5, rate=100)
    data = bytearray(recording.bytes())
    needle = recording.commands[7].host_record()
    at = bytes(data).index(needle)
    data[at:at + 2] = struct.pack("<H", 77)     # kind
    path = service.folder / "malformed.ntprof"
    path.write_bytes(data)
    service.start(path)
    client = service.client()
    session = client.start(sample="all")
    client.wait_state(session, "finished")
    losses = client.report(session)["losses"]
    assert losses["malformed"] == 1 and client.get(session, "Joined") == 49, losses


@tap.case
def a_file_that_changes_fails_the_session(service: Service) -> None:
    recording = make_replay.recording(seconds=20, rate=200)
    path = service.recording(recording)
    service.start(path, speed=1)
    client = service.client()
    session = client.start(sample="all")
    client.wait_state(session, "recording")
    data = path.read_bytes()
    path.write_bytes(data[:16 + len(data) // 2])
    with path.open("r+b") as file:
        file.seek(len(data) // 4)
        file.write(b"\xff" * 4096)
    wait_until(lambda: client.get(session, "State") in ("failed", "finished", "recording"), "an answer")
    client.call(session, SESSION, "Stop")
    assert client.get(session, "State") == "failed" and client.get(session, "Result") == "CaptureFailed"
    assert "nvme6n1" in client.get(session, "Message")
    assert errors_of(lambda: client.report(session))[0] == "NoReport"
    client.call(session, SESSION, "Remove")


@tap.case
def a_signal_ends_sessions_and_daemon(service: Service) -> None:
    service.start(make_replay.recording(seconds=120, rate=20), speed=1)
    client = service.client()
    session = client.start(keep=True)
    client.wait_state(session, "recording")
    text = service.stop()
    spin(lambda: "failed" in client.states_told(session), "the session's end told")
    told = [a[1]["Result"] for p, m, a in client.signals if p == session and m == "PropertiesChanged" and "Result" in a[1]]
    assert told[-1] == "ShuttingDown", told
    assert text.count("\n") == 1 and "was ended" in text, text


@tap.case
def it_ends_when_the_bus_does(service: Service) -> None:
    service.start(make_replay.recording(seconds=120, rate=20), speed=1)
    client = service.client()
    client.start(keep=True)
    service.bus.terminate()
    service.bus.wait()
    assert service.daemon
    _, text = service.daemon.communicate(timeout=60)
    assert service.daemon.returncode == 1 and "The connection to the bus was lost" in text, text
    service.daemon = None


@tap.case
def it_ends_when_idle_and_nothing_is_kept(service: Service) -> None:
    service.start(arguments=("--exit-on-idle", "1"))
    client = service.client()
    session = client.start()
    client.wait_state(session, "finished")
    time.sleep(2.5)
    assert client.report(session), "its report was kept"
    client.call(session, SESSION, "Remove")
    assert service.daemon
    _, text = service.daemon.communicate(timeout=60)
    assert service.daemon.returncode == 0 and text == "", (service.daemon.returncode, text)
    service.daemon = None


@tap.case
def what_is_asked_as_it_ends_is_answered(service: Service) -> None:
    service.start(arguments=("--exit-on-idle", "1"))
    client = service.client()
    with stopped(service.bus):      # passes on first what came first: the call, then that the daemon gives its name away
        answer = client.begin(ROOT, OBJECT_MANAGER, "GetManagedObjects")
        time.sleep(3)
    spin(lambda: bool(answer), "the answer")
    assert isinstance(answer[0], tuple), answer
    spin(client.is_owned, "it to have its name again")
    assert client.sessions() == {}
    assert service.daemon
    _, text = service.daemon.communicate(timeout=60)
    assert service.daemon.returncode == 0 and text == "", (service.daemon.returncode, text)
    service.daemon = None


@tap.case
def hundreds_of_sessions_leave_nothing_behind(service: Service) -> None:
    service.start(make_replay.recording(seconds=0.1), speed=100)
    client = service.client()

    def open_files() -> int:
        assert service.daemon
        return len(list(Path(f"/proc/{service.daemon.pid}/fd").iterdir()))

    before = open_files()
    for number in range(300):
        session = client.start(keep=number % 2 == 0, sample="all")
        client.call(session, SESSION, "Stop" if number % 3 else "Cancel")
        if number % 5:
            os_close_report(client, session)
        client.call(session, SESSION, "Remove")
    assert client.sessions() == {}
    assert open_files() == before, (open_files(), before)


def os_close_report(client, session: str) -> None:
    if client.get(session, "Result") == "done":
        os.close(client.report_fd(session))


@tap.case
def a_recording_of_a_session_replays_the_same(service: Service) -> None:
    copy = service.folder / "copy.ntprof"
    service.start(make_replay.recording(), arguments=("--record", copy))
    client = service.client()
    session = client.start(sample="all")
    client.wait_state(session, "finished")
    first = client.report(session)
    again = client.start(sample="all")      # is not recorded
    client.wait_state(again, "finished")
    client.close()
    service.stop()
    assert copy.stat().st_mode & 0o777 == 0o600
    service.start(copy)
    client = service.client()
    session = client.start(sample="all")
    client.wait_state(session, "finished")
    second = client.report(session)
    for report in (first, second):
        del report["session"]["id"], report["session"]["started_realtime_us"]
    assert first == second


@tap.case
def a_recording_is_not_written_over(service: Service) -> None:
    path = service.folder / "there"
    path.write_text("precious")
    result = service.run("--replay", service.recording(make_replay.recording()), "--record", path)
    assert result.returncode == 1 and str(path) in result.stderr and "exists" in result.stderr, result
    assert path.read_text() == "precious"


@tap.case
def inspect_prints_and_exits(service: Service) -> None:
    recording = service.recording(make_replay.recording())
    text = service.run("--replay", recording, "--inspect")
    assert text.returncode == 0 and text.stdout.startswith("kernel 6.1.0-test-amd64\n"), text
    document = service.run("--replay", recording, "--inspect", "--json")
    assert document.returncode == 0 and '"org.ntprof.inspection/1"' in document.stdout, document


tap.main(private_bus)
