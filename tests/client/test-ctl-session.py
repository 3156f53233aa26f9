#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions from start to remove, and their reports, by ntprofctl."""

import json
import re

import make_replay
import tap
from ctl import NO_REPORT, NO_SUCH_SESSION, SESSION_BUSY, SESSION_CANCELLED, USAGE, attached, finish, long, run, short
from service import Service


def with_long(function) -> None:
    """A case that needs a session that goes on."""

    def call(_service: Service) -> None:
        with long() as service:
            function(service)

    call.__name__ = function.__name__
    tap.case(call)


START = ("session", "start", "--namespace", "nvme6n1")


@tap.case
def start_prints_the_report(service: Service) -> None:
    result = run(service, *START, "--sample", "all")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("session     1, 2.0 s from "), lines[0]
    assert any(line.startswith("== read 4KiB nvme6n1: 1500 commands sampled") for line in lines), result.stdout
    assert "largest: storage" in result.stdout
    assert all(len(line) <= 84 for line in lines if not line.startswith("== ")), lines      # the shape of docs/model.md
    # It can be over before ntprofctl sees it record.
    assert result.stderr in ("", "session 1: recording nvme6n1; Ctrl-C ends it and prints the report\n"), result.stderr
    assert "\033" not in result.stdout


def with_detail(function) -> None:
    """A case of a recording in detail."""

    def call(_service: Service) -> None:
        with short(make_replay.recording(detail=True)) as service:
            function(service)

    call.__name__ = function.__name__
    tap.case(call)


@tap.case
def detail_needs_a_recording_of_it(service: Service) -> None:
    result = run(service, *START, "--detail", status=USAGE)
    assert result.stderr == "ntprofctl: detail: the recording of nvme6n1 was made without\n", result.stderr
    run(service, *START)
    shown = run(service, "session", "show", "1").stdout
    assert "detail      no\n" in shown, shown
    assert json.loads(run(service, "session", "show", "1", "--json").stdout)["detail"] is False


@with_detail
def detail_is_asked_for_at_the_start(service: Service) -> None:
    run(service, *START, "--detail")
    shown = run(service, "session", "show", "1").stdout
    assert "detail      yes\n" in shown, shown
    assert json.loads(run(service, "session", "list", "--json").stdout)["sessions"][0]["detail"] is True
    assert "DETAIL" not in run(service, "session", "list").stdout


def rows(text: str) -> list[tuple[int, str, str]]:
    """Of the first table: indent, name and the mean or what stands in its place."""
    lines = text.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("stage "))
    table = lines[begin + 1:next(i for i, line in enumerate(lines) if line.startswith("largest:"))]
    joined = []
    for line in table:
        if re.match(r" {6}\S", line):
            joined[-1] += " " + line.strip()            # of a reason that is too long for its line
        else:
            joined.append(line)
    found = [re.match(r"( *)(\S.*?)  +(\S.*)", line) for line in joined]
    return [(len(m[1]) // 2, m[2], m[3].split()[0] if m[3][0] in "-0123456789" else m[3]) for m in found if m]


@with_detail
def detail_has_what_the_stages_consist_of(service: Service) -> None:
    started = run(service, *START, "--sample", "all", "--detail").stdout
    assert started == run(service, "report", "--detail").stdout
    table = rows(started)
    means = {(depth, name): float(mean) for depth, name, mean in table}
    # Each level adds up to the row above; one clock, so nothing is uncertain.
    for depth in (0, 1):
        for i, (level, name, mean) in enumerate(table):
            below = []
            for deeper, _, other in table[i + 1:]:
                if deeper <= level:
                    break
                if deeper == level + 1:
                    below.append(float(other))
            if level == depth and below:
                assert abs(sum(below) - float(mean)) < 0.03, (name, mean, below)
    assert means[2, "host receive path"] == 1.5 and means[2, "target receive path"] == 0.8, table
    assert means[1, "drive"] + means[1, "target block layer"] == means[0, "storage (target block layer, drive)"], table
    plain = run(service, "report").stdout
    assert [x for x in started.splitlines() if not x.startswith("  ")] == [x for x in plain.splitlines() if not x.startswith("  ")]


@tap.case
def what_was_not_recorded_in_detail_says_so(service: Service) -> None:
    run(service, *START, "--sample", "all")
    table = rows(run(service, "report", "--detail").stdout)
    missing = {name for _, name, mean in table if mean == "recorded by session start --detail only"}
    assert missing == {"NICs and wire", "host receive path", "target receive path", "target block layer", "drive"}, table
    assert all(re.fullmatch(r"[\d.]+", mean) for depth, _, mean in table if depth == 0), table


@tap.case
def a_drive_that_is_hidden_says_why(_service: Service) -> None:
    with short(make_replay.recording(detail=True, drive_hidden="the namespace is a file")) as service:
        table = rows(run(service, *START, "--sample", "all", "--detail").stdout)
        hidden = {name: mean for depth, name, mean in table if "file" in mean}
        assert hidden == dict.fromkeys(("target block layer", "drive"), "not visible here (the namespace is a file)"), table
        document = json.loads(run(service, "report", "--json").stdout)
        assert document["targets"][0]["drive_hidden"] == "the namespace is a file", document["targets"]


@tap.case
def by_path(service: Service) -> None:
    run(service, *START, "--sample", "all")
    # One path is the namespace.
    assert run(service, "report", "--by", "path").stdout == run(service, "report").stdout
    assert "there is queue, cpu, path, size and process" in run(service, "report", "--by", "sizes", status=USAGE).stderr


@tap.case
def by_queue_and_others(service: Service) -> None:
    """The recording has two queues by turns, each with processors of its own; see mixed() in make_replay.py."""
    run(service, *START, "--sample", "all")
    for key, first, lines in (("queue", ["1", "2"], 2), ("cpu", ["0", "1"], 2), ("size", ["4KiB", "64KiB"], 2),
                              ("process", ["fio (1001)", "postgres: walwr (2002)"], 2)):
        text = run(service, "report", "--by", key).stdout
        assert f"\n== by {key} nvme6n1\n" in text and "== read" not in text, text
        table = text.split(f"== by {key} nvme6n1\n")[1].splitlines()
        assert table[0].split()[0] == key and table[lines + 1].startswith("submit, response, target: "), table
        assert [line.lstrip().split("  ")[0] for line in table[1:lines + 1]] == first, table
        detailed = run(service, "report", "--by", key, "--detail").stdout
        if key == "queue":
            assert [line.split()[7:] for line in table[1:3]] == [["0", "2", "4,6", "(4:", "50%)"], ["1", "3", "5,7", "(5:", "50%)"]]
        assert " blk  drv  net  tgt  sto " in detailed and " blk " not in text, detailed


@tap.case
def start_prints_the_report_as_json(service: Service) -> None:
    report = json.loads(run(service, *START, "--sample=all", "--json").stdout)
    assert report["schema"] == "org.ntprof.report/1" and report["session"]["sampled"] == 2000, report


@tap.case
def the_hosts_side_only(service: Service) -> None:
    result = run(service, *START, "--sample", "all", "--no-target")
    assert "not recorded: the target's side was not asked for" in result.stdout, result.stdout


@tap.case
def a_peer_and_no_target_exclude_each_other(service: Service) -> None:
    result = run(service, *START, "--peer", "stor-a", "--no-target", status=2)
    assert "--peer and --no-target exclude each other" in result.stderr, result.stderr
    result = run(service, *START, "--peer", "stor-a", status=2)
    assert "peer: the target of nvme6n1 is this machine" in result.stderr, result.stderr


@tap.case
def namespaces_have_three_names(service: Service) -> None:
    for name in ("nvme6n1", "nvme6c6n1"):
        run(service, "session", "start", "-n", name, "-d", "50ms")


@with_long
def a_duration_ends_it(service: Service) -> None:
    result = run(service, *START, "--duration", "1s 200ms")
    assert "recording nvme6n1 for 1 s 200 ms; Ctrl-C ends it earlier" in result.stderr, result.stderr
    shown = json.loads(run(service, "session", "show", "1", "--json").stdout)
    assert shown["duration_usec"] == 1_200_000 and 1_200_000 <= shown["recorded_usec"] < 1_800_000, shown
    assert not shown["keep"]


@tap.case
def no_sessions(service: Service) -> None:
    assert run(service, "session", "list").stdout.startswith("No sessions.")
    assert json.loads(run(service, "session", "list", "--json").stdout) == {"schema": "org.ntprof.sessions/1", "sessions": []}
    result = run(service, "report", status=NO_REPORT)
    assert result.stdout == "" and "session start --namespace" in result.stderr, result.stderr


@with_long
def a_detached_session_goes_on(service: Service) -> None:
    result = run(service, *START, "--detach")
    assert result.stdout.splitlines() == [
        "session 1: recording nvme6n1", "'ntprofctl session stop 1' ends it, 'ntprofctl report 1' prints its report"], result.stdout
    assert result.stderr == ""

    rows = [line.split() for line in run(service, "session", "list").stdout.splitlines()]
    assert rows[0] == ["ID", "NAMESPACE", "STATE", "OWNER", "STARTED", "RECORDED", "COMMANDS", "SAMPLED"]
    assert rows[1][:3] == ["1", "nvme6n1", "recording"], rows

    assert "report 1" in run(service, "report", status=NO_REPORT).stderr
    assert run(service, "report", "1").stdout.startswith("session     1, ")
    assert "remove" not in run(service, "session", "remove", "1", status=SESSION_BUSY).stdout

    assert run(service, "session", "stop", "1").stdout == "session 1: finished; 'ntprofctl report 1' prints its report\n"
    assert run(service, "session", "show", "1").stdout.startswith("session 1: finished\n")
    assert run(service, "report").stdout == run(service, "report", "1").stdout
    run(service, "session", "remove", "1")
    assert "1: no such session" in run(service, "session", "show", "1", status=NO_SUCH_SESSION).stderr
    assert "1: no such session" in run(service, "report", "1", status=NO_SUCH_SESSION).stderr


@with_long
def a_detached_session_as_json(service: Service) -> None:
    session = json.loads(run(service, *START, "--detach", "--json", "--duration=1h", "--sample=1/4").stdout)
    assert session["schema"] == "org.ntprof.session/1" and session["id"] == "1" and session["state"] == "recording"
    assert session["keep"] and session["duration_usec"] == 3_600_000_000 and session["sample"] == "1/4"
    listed = json.loads(run(service, "session", "list", "--json").stdout)["sessions"]
    shown = json.loads(run(service, "session", "show", "1", "--json").stdout)
    assert [s["id"] for s in listed] == ["1"] and set(listed[0]) | {"schema"} == set(shown)


@with_long
def a_cancelled_session_has_no_report(service: Service) -> None:
    run(service, *START, "--detach")
    result = run(service, "session", "cancel", "1")
    assert result.stdout == result.stderr == ""
    assert run(service, "session", "show", "1").stdout.startswith("session 1: cancelled\n")
    assert "cancelled" in run(service, "session", "list").stdout
    assert "cancelled" in run(service, "report", "1", status=NO_REPORT).stderr
    run(service, "report", status=NO_REPORT)
    assert "session 1 was cancelled" in run(service, "session", "stop", "1").stdout


@with_long
def several_at_once_and_one_that_is_not(service: Service) -> None:
    for _ in range(3):
        run(service, *START, "--detach")
    result = run(service, "session", "stop", "1", "7", "/org/ntprof1/session/3", status=NO_SUCH_SESSION)
    assert [line.split(":")[0] for line in result.stdout.splitlines()] == ["session 1", "session 3"], result.stdout
    assert result.stderr == "ntprofctl: 7: no such session\n", result.stderr
    states = {s["id"]: s["state"] for s in json.loads(run(service, "session", "list", "--json").stdout)["sessions"]}
    assert states == {"1": "finished", "2": "recording", "3": "finished"}, states
    run(service, "session", "cancel", "2")
    run(service, "session", "remove", "1", "2", "3")
    assert run(service, "session", "list").stdout.startswith("No sessions.")


@with_long
def stopped_by_another_it_prints_its_report(service: Service) -> None:
    process = attached(service)
    run(service, "session", "stop", "1")
    assert "largest: " in finish(process).stdout


@with_long
def cancelled_by_another_it_says_so(service: Service) -> None:
    process = attached(service)
    run(service, "session", "cancel", "1")
    result = finish(process, SESSION_CANCELLED)
    assert result.stdout == "" and "ntprofctl: session 1 was cancelled: it has no report\n" in result.stderr, result.stderr


@with_long
def an_attached_session_ends_with_ntprofctl(service: Service) -> None:
    process = attached(service)
    process.kill()
    process.communicate()
    client = service.client()
    path = next(iter(client.sessions()))
    client.wait_state(path, "finished")
    assert client.get(path, "Result") == "cancelled"


@tap.case
def show_tells_all(service: Service) -> None:
    run(service, *START, "--sample=all")
    text = run(service, "session", "show", "1").stdout
    for row in ("namespace   nvme6n1", "sample      all", "commands    2000", "sampled     2000", "joined      2000", "lost        none",
                "target      this machine: recorded", "hooks       H0  tp_btf        block_bio_queue"):
        assert f"  {row}\n" in text, (row, text)
    assert max(map(len, text.splitlines())) <= 80
    document = json.loads(run(service, "session", "show", "1", "--json").stdout)
    assert document["targets"] == [{"peer": "", "state": "ended", "reason": ""}], document


@tap.case
def check_tells_what_can_be_measured(service: Service) -> None:
    text = run(service, "check").stdout
    assert text.startswith("kernel 6.1.0-test-amd64") and "\nhost side: can be recorded\n" in text, text
    assert "\n\nhost side\n" in run(service, "check", "--verbose").stdout
    assert json.loads(run(service, "check", "--json").stdout)["schema"] == "org.ntprof.inspection/1"
    assert run(service, "check", "--namespace", "nvme6n1").stdout == text
    assert "nvme9n9" in run(service, "check", "-n", "nvme9n9", status=3).stderr


tap.main(short)
