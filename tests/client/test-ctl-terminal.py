#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""On a terminal: one line of progress that is drawn again and again and then goes, and colours unless NO_COLOR is set."""

import contextlib
import re
from collections.abc import Iterator

import make_replay
import tap
from ctl import Terminal, environment, finish, popen, run
from service import Service, private_bus

LINE_START = "\r"
ERASE = "\033[K"


@contextlib.contextmanager
def slow() -> Iterator[Service]:
    """Sessions that last long enough to be seen."""
    with private_bus() as service:
        service.start(make_replay.recording(seconds=3, rate=1000), speed=1)
        yield service


@tap.case
def progress_is_one_line(service: Service) -> None:
    terminal = Terminal()
    process = popen(service.address, "session", "start", "-n", "nvme6n1", "-d", "10s", stderr=terminal.slave)
    text = terminal.read_while(process)
    assert process.returncode == 0
    report = process.stdout.read()
    assert "largest: " in report and "\033" not in report
    assert text.startswith(f"starting ...{LINE_START}{ERASE}"), repr(text[:40])
    lines = [line for line in text.replace("\r\n", "\n").split("\n") if line]
    # the announcement, then what was drawn in place
    assert any("recording nvme6n1 for 10 s; Ctrl-C ends it earlier" in line for line in lines), lines
    drawn = re.findall(r"\r([^\r\n\033]*)\033\[K", text)
    assert len(drawn) >= 3, text
    assert any(re.fullmatch(r"\d\.\d s of 10 s: \d+ commands, [\d.k]+/s, \d+ sampled, \d+ joined, \d+ lost", d) for d in drawn), drawn
    assert all(len(d) < 80 for d in drawn)
    assert text.endswith(LINE_START + ERASE), repr(text[-40:])     # nothing of it stays


@tap.case
def until_it_has_begun_something_is_there(service: Service) -> None:
    for arguments, status, said in ((["-n", "nvme6n1", "--detach"], 0, ""), (["-n", "nvme9n9"], 3, "ntprofctl: ")):
        terminal = Terminal()
        process = popen(service.address, "session", "start", *arguments, stderr=terminal.slave)
        text = terminal.read_while(process)
        assert process.returncode == status, (process.returncode, text)
        assert text.startswith(f"starting ...{LINE_START}{ERASE}{said}") and text.count("starting") == 1, repr(text)
        assert bool(said) == (len(text) > len(f"starting ...{LINE_START}{ERASE}")), repr(text)


@tap.case
def a_terminal_gets_colours(service: Service) -> None:
    run(service, "session", "start", "-n", "nvme6n1")
    plain = run(service, "report").stdout
    for env, colours in ((environment(service.address), True), (environment(service.address, NO_COLOR="1"), False),
                         (environment(service.address, NO_COLOR=""), True), (environment(service.address, TERM="dumb"), False)):
        terminal = Terminal()
        process = popen(service.address, "report", env=env, stdout=terminal.slave)
        text = terminal.read_while(process).replace("\r\n", "\n")
        assert process.returncode == 0
        assert ("\033[1m== read" in text) == colours and ("\033" in text) == colours, text
        assert re.sub(r"\033\[\d+m", "", text) == plain


@tap.case
def tables_have_the_same_text_with_colours(service: Service) -> None:
    run(service, "session", "start", "-n", "nvme6n1")
    for arguments in (["session", "list"], ["session", "show", "1"], ["check"]):
        terminal = Terminal()
        process = popen(service.address, *arguments, stdout=terminal.slave)
        text = terminal.read_while(process).replace("\r\n", "\n")
        lines = [line.rstrip() for line in re.sub(r"\033\[[\d;]*m", "", text).splitlines()]
        assert lines == run(service, *arguments).stdout.splitlines(), text


@tap.case
def off_a_terminal_there_is_no_line_to_erase(service: Service) -> None:
    process = popen(service.address, "session", "start", "-n", "nvme6n1")
    result = finish(process)
    assert result.stderr == "session 1: recording nvme6n1; Ctrl-C ends it and prints the report\n", result.stderr


tap.main(slow)
