#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What goes wrong is told on standard error, with the exit status of --help, and nothing on standard output."""

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gi.repository import GLib

import make_replay
import tap
from ctl import ACCESS_DENIED, NO_SERVICE, NO_SUCH_NAMESPACE, USAGE, bus_only, environment, finish, popen, run, short
from service import NAME, NTPROFD, OPEN_POLICY, Service, private_bus, spin, wait_until


def fails(service: Service | None, status: int, *arguments: str, **how: object) -> str:
    result = run(service, *arguments, status=status, **how)
    assert result.stdout == "", result.stdout
    assert result.stderr.startswith("ntprofctl: "), result.stderr
    return result.stderr


@tap.case
def there_is_no_daemon(_service: Service) -> None:
    with bus_only() as service:
        for verb in (["session", "list"], ["session", "start", "-n", "nvme6n1"], ["report"], ["check"], ["session", "stop", "1"]):
            message = fails(service, NO_SERVICE, *verb)
            assert "ntprofd isn't on the bus" in message and "systemctl status ntprofd" in message, message


@tap.case
def there_is_no_bus(_service: Service) -> None:
    env = environment("unix:path=/nonexistent/bus")
    assert "no system bus: " in fails(None, NO_SERVICE, "session", "list", env=env)
    assert "no message bus at unix:path=/nonexistent: " in fails(None, NO_SERVICE, "--bus", "unix:path=/nonexistent", "check")
    assert "no message bus at nonsense: " in fails(None, NO_SERVICE, "check", "--bus=nonsense")


@tap.case
def the_bus_is_named_by_an_option(service: Service) -> None:
    env = environment("unix:path=/nonexistent/bus")
    for arguments in (["--bus", service.address, "session", "list"], [f"--bus={service.address}", "session", "list"],
                      ["session", "list", "--bus", service.address]):
        run(None, *arguments, env=env)
    assert "--bus" in fails(None, USAGE, "--bus")


@tap.case
def the_bus_does_not_let_us(_service: Service) -> None:
    policy = f"""<policy context="default">
        <allow user="*"/> <allow own="*"/> <allow send_type="method_call"/> <deny send_destination="{NAME}"/>
        </policy>"""
    with private_bus(policy) as service:
        service.start()
        message = fails(service, ACCESS_DENIED, "session", "list")
        assert "group ntprof" in message, message


@contextlib.contextmanager
def activatable(command: str) -> Iterator[Service]:
    """A bus that starts command when somebody asks for ntprofd; {bus} is its address."""
    with tempfile.TemporaryDirectory(prefix="ntprof-services.") as folder:
        with private_bus(OPEN_POLICY + f"<servicedir>{folder}</servicedir>") as service:
            text = f"[D-BUS Service]\nName={NAME}\nExec={command.format(bus=service.address)}\n"
            (Path(folder) / f"{NAME}.service").write_text(text)
            os.kill(service.bus.pid, signal.SIGHUP)     # dbus-daemon reads its folders again
            yield service


@tap.case
def the_bus_starts_the_daemon(_service: Service) -> None:
    with tempfile.TemporaryDirectory(prefix="ntprof-replay.") as folder:
        recording = Path(folder) / "recording"
        make_replay.recording().write(recording)
        with activatable(f"{NTPROFD} --bus {{bus}} --replay {recording} --exit-on-idle 1") as service:
            wait_until(lambda: run(service, "session", "list", status=None).returncode == 0, "the bus to know the service")
            assert "largest: " in run(service, "session", "start", "-n", "nvme6n1", "--sample=all").stdout


@tap.case
def the_daemon_does_not_start(_service: Service) -> None:
    with activatable("/bin/false") as service:
        def message() -> str:
            return fails(service, NO_SERVICE, "session", "list")

        wait_until(lambda: "isn't on the bus" not in message(), "the bus to know the service")
        assert message().startswith("ntprofctl: ntprofd could not be started: "), message()


@tap.case
def the_namespace_is_not_there(service: Service) -> None:
    assert "nvme9n1" in fails(service, NO_SUCH_NAMESPACE, "session", "start", "--namespace", "nvme9n1")
    assert "nvme9n1" in fails(service, NO_SUCH_NAMESPACE, "session", "start", "--namespace", "nvme9n1", "--detach")


@tap.case
def wrong_options_are_explained(service: Service) -> None:
    start = ("session", "start", "--namespace", "nvme6n1")
    for arguments, words in (
        ((), "a verb is missing"),
        (("session",), "session: a verb is missing"),
        (("reprot",), "did you mean 'report'?"),
        (("session", "strat"), "did you mean 'session start'?"),
        (("list",), "did you mean 'session list'?"),
        (("--verson",), "did you mean --version?"),
        (("report", "--jsn"), "unknown option --jsn; did you mean --json?"),
        (("report", "-x"), "-x"),
        (("report", "1", "2"), "too many arguments: '2'"),
        (("session", "list", "3"), "too many arguments: '3'"),
        (("session", "show"), "which session?"),
        (("session", "stop"), "which session?"),
        (("session", "start"), "--namespace is missing"),
        (("session", "start", "nvme6n1"), "did you mean --namespace nvme6n1?"),
        ((*start, "--duraton", "1s"), "unknown option --duraton; did you mean --duration?"),
        ((*start, "--duration"), "duration"),
        ((*start, "--duration", "10x"), "duration '10x': unknown unit 'x' (us, ms, s, min, h, d, w); for example 10s"),
        ((*start, "--duration="), "it is empty"),
        ((*start, "--sample", "1/0"), 'sample: "1/0"'),
        (("check", "--namespace", os.fsdecode(b"\xff")), "no text in this locale's encoding"),
    ):
        message = fails(service, USAGE, *arguments)
        assert words in message, (arguments, message)
        assert "Traceback" not in message
    assert service.client().sessions() == {}


@tap.case
def usage_errors_point_to_help(service: Service) -> None:
    assert fails(service, USAGE, "session", "start").endswith("\nTry 'ntprofctl help session start'.\n")


@tap.case
def help_needs_no_daemon(_service: Service) -> None:
    env = environment("unix:path=/nonexistent/bus")
    program = run(None, "--help", env=env).stdout
    for words in ("session start", "session remove", "report", "check", "Exit status:", "   20  no service\n", "  130  "):
        assert words in program, (words, program)
    for arguments in (["help"], ["-h"]):
        assert run(None, *arguments, env=env).stdout == program
    for group, other, words in (("session", "peer invite", "--detach"),
                                ("peer", "session start", "target# ntprofctl peer invite")):
        text = run(None, group, "--help", env=env).stdout
        assert text.startswith(f"Usage: ntprofctl {group} VERB") and words in text and f"\n  {group} show " in text, text
        assert f"\n  {other} " not in text and max(map(len, text.splitlines())) <= 80, text
        assert run(None, "help", group, env=env).stdout == text
    for verb in (["session", "start"], ["session", "list"], ["session", "show"], ["session", "stop"], ["session", "cancel"],
                 ["session", "remove"], ["report"], ["check"]):
        text = run(None, *verb, "--help", env=env).stdout
        assert text.startswith("Usage:\n  ntprofctl " + " ".join(verb)), text
        assert run(None, "help", *verb, env=env).stdout == text
        assert max(map(len, text.splitlines())) <= 80, text
    assert run(None, "--version", env=env).stdout.startswith("ntprofctl ")
    fails(None, USAGE, "help", "frobnicate", env=env)


@tap.case
def a_reader_that_leaves_is_no_error(service: Service) -> None:
    run(service, "session", "start", "-n", "nvme6n1")
    for arguments in (["report"], ["report", "--json"], ["session", "list"], ["--help"]):
        read_end, write_end = os.pipe()
        os.close(read_end)
        process = popen(service.address, *arguments, stdout=write_end)
        os.close(write_end)
        result = finish(process, None)
        assert result.returncode == -signal.SIGPIPE and result.stderr == "", (arguments, result)
    shell = f"set -o pipefail; {process.args[0]} report | head -1"
    piped = subprocess.run(["bash", "-c", shell], env=environment(service.address), capture_output=True, text=True, check=False)
    assert piped.stdout.startswith("session ") and piped.stderr == "", piped


@tap.case
def progress_that_nobody_reads_does_not_end_it(service: Service) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = popen(service.address, "session", "start", "-n", "nvme6n1", stderr=write_end)
    os.close(write_end)
    assert "largest: " in finish(process).stdout


@tap.case
def a_full_disk_is_an_error(service: Service) -> None:
    run(service, "session", "start", "-n", "nvme6n1")
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = run(service, "report", status=1, stdout=full)
    assert "ntprofctl: writing the output failed: " in result.stderr, result.stderr


@tap.case
def what_owns_the_name_is_not_ntprofd(_service: Service) -> None:
    with bus_only() as service:
        other = service.client()
        other.connection.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
                                   GLib.Variant("(su)", (NAME, 0)), None, 0, -1, None)
        process = popen(service.address, "session", "list")
        spin(lambda: process.poll() is not None, "ntprofctl to give up")     # Gio says that there is no such object
        result = finish(process, None)
        assert result.returncode not in (0, USAGE) and result.stderr.startswith("ntprofctl: "), result


tap.main(short)
