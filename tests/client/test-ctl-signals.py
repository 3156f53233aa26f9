#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Ctrl-C, and what else can end an attached session: it never hangs and never leaves without a word."""

import signal
import time

import tap
from ctl import (INTERRUPTED, SERVICE_GONE, SHUTTING_DOWN, attached, finish, interrupt, long, popen, read_line, run)
from service import Service, wait_until


@tap.case
def ctrl_c_stops_and_prints_the_report(service: Service) -> None:
    process = attached(service)
    interrupt(process)
    result = finish(process)
    assert "== read 4KiB nvme6n1: " in result.stdout, result.stdout
    assert "stopping; Ctrl-C again leaves without a report\n" in result.stderr, result.stderr
    assert run(service, "report").stdout == result.stdout


@tap.case
def two_signals_at_once_are_one(service: Service) -> None:
    """timeout --signal INT signals ntprofctl, and then its process group."""
    process = attached(service)
    interrupt(process)
    interrupt(process, signal.SIGTERM)      # another one: two of the same kind could be merged on their way
    assert "== read 4KiB nvme6n1: " in finish(process).stdout


@tap.case
def sigterm_does_the_same(service: Service) -> None:
    process = attached(service, "--json")
    interrupt(process, signal.SIGTERM)
    assert '"org.ntprof.report/1"' in finish(process).stdout


@tap.case
def a_second_ctrl_c_cancels_and_leaves(service: Service) -> None:
    process = attached(service)
    assert service.daemon
    service.daemon.send_signal(signal.SIGSTOP)      # the first one's stop takes its time
    interrupt(process)
    read_line(process, "stopping")
    begun = time.monotonic()
    time.sleep(0.2)     # as a person would
    interrupt(process)
    result = finish(process, INTERRUPTED)
    assert time.monotonic() - begun < 20
    assert result.stdout == "" and result.stderr == "cancelled\n", result
    service.daemon.send_signal(signal.SIGCONT)
    client = service.client()
    client.wait_state(next(iter(client.sessions())), "finished")


@tap.case
def ctrl_c_ends_a_call_that_gets_no_answer(service: Service) -> None:
    assert service.daemon
    service.daemon.send_signal(signal.SIGSTOP)
    process = popen(service.address, "session", "start", "-n", "nvme6n1")
    time.sleep(1)
    assert process.poll() is None
    interrupt(process)
    result = finish(process, None)
    service.daemon.send_signal(signal.SIGCONT)
    assert result.returncode in (-signal.SIGINT, INTERRUPTED) and result.stdout == "", result


@tap.case
def the_daemon_crashes(service: Service) -> None:
    process = attached(service)
    service.kill()
    result = finish(process, SERVICE_GONE)
    assert result.stdout == ""
    assert result.stderr.splitlines()[-1].startswith("ntprofctl: session 1 is gone before it ended: "), result.stderr
    assert "journalctl -u ntprofd" in result.stderr


@tap.case
def the_daemon_crashes_while_it_stops(service: Service) -> None:
    process = attached(service)
    assert service.daemon
    service.daemon.send_signal(signal.SIGSTOP)
    interrupt(process)
    read_line(process, "stopping")
    service.kill()
    result = finish(process, SERVICE_GONE)
    assert result.stdout == "" and result.stderr.count("ntprofctl: ") == 1, result


@tap.case
def the_daemon_is_told_to_end(service: Service) -> None:
    process = attached(service)
    service.stop()
    result = finish(process, None)
    assert result.returncode in (SHUTTING_DOWN, SERVICE_GONE), result
    assert result.stdout == "" and result.stderr.splitlines()[-1].startswith("ntprofctl: session 1"), result


@tap.case
def the_bus_goes_away(service: Service) -> None:
    process = attached(service)
    service.bus.kill()
    service.bus.wait()
    result = finish(process, SERVICE_GONE)
    assert result.stdout == "" and "ntprofctl: session 1 " in result.stderr, result
    assert service.daemon
    wait_until(lambda: service.daemon.poll() is not None, "the daemon to end without a bus")
    service.daemon.communicate()
    service.daemon = None


@tap.case
def a_detached_start_is_cancelled_by_ctrl_c_or_done(service: Service) -> None:
    process = popen(service.address, "session", "start", "-n", "nvme6n1", "--detach")
    interrupt(process)
    result = finish(process, None)
    assert result.returncode in (0, INTERRUPTED, -signal.SIGINT), result


tap.main(long)
