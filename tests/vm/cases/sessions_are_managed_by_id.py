# SPDX-License-Identifier: GPL-2.0-or-later
"""A session attached to a terminal and detached ones: Ctrl-C, list, show, stop, report, cancel, remove."""

from __future__ import annotations

import re

from support import fio, ntprofctl
from support.checks import Test
from support.fio import READ_4K, Load
from support.lab import Lab
from support.ntprofctl import START, ctl

_SESSION_BUSY, _NO_REPORT, _NO_SUCH_SESSION, _INTERRUPTED = 8, 9, 12, 130


def _ctrl_c(lab: Lab) -> None:
    with lab.scope.test("Ctrl-C ends an attached session and prints its report") as test:
        load = fio.start_endless(lab.host, lab.namespace)
        try:
            client = ntprofctl.start_attached(lab.host, lab.namespace, "--sample", "all")
            ntprofctl.wait_recording(lab.host)
            lab.host.sh("sleep 1")
            ntprofctl.interrupt(client)
            ended = client.wait(120)
        finally:
            load.kill()
        test.equal("exit status", ended.status, 0)
        test.contains("standard error", ended.stderr, "Ctrl-C again leaves without a report")
        for piece in (f"== read 4KiB {lab.namespace}: ", "all with the target's side", "host block layer", "host driver (nvme-tcp)",
                      "network (TCP, NICs, wire)", "target driver (nvmet-tcp)", "storage (target block layer, drive)",
                      "largest: "):
            test.contains("report", ended.stdout, piece)
        # Both sides began and ended amid I/O; what the kernel skipped is told and is not the point here.
        told = re.findall(r"^ +[0-9]+  (.*)$", ended.stdout.partition("lost or set aside:\n")[2], re.MULTILINE)
        test.equal("what is lost, but for runs that the kernel skipped", [line for line in told if "kernel skipped" not in line],
                   [])

    with lab.scope.test("Ctrl-C while a session attaches leaves nothing behind") as test:
        client = ntprofctl.start_attached(lab.host, lab.namespace)
        lab.host.sh("sleep 0.3")
        for _ in range(2):
            ntprofctl.interrupt(client)
            lab.host.sh("sleep 0.2")
        ended = client.wait(120)
        test.equal(f"exit status (standard error: {ended.stderr.strip()})", ended.status, _INTERRUPTED)
        test.equal("report", ended.stdout, "")
        test.equal("left in the kernel", ntprofctl.left_attached(lab.host), [])


def _manage(test: Test, lab: Lab) -> None:
    host = lab.host
    first, second = (host.run([*START, "--namespace", name, "--sample", "all", "--detach", "--json"], timeout=300).check().json()
                     for name in (lab.namespace, lab.slow_namespace))
    counted = fio.run(host, lab.namespace, [Load(READ_4K, 200)])[0]
    slow = fio.run(host, lab.slow_namespace, [Load(READ_4K, 50)])[0]

    listed = {entry["id"]: entry for entry in ntprofctl.sessions(host)}
    for facts, name in ((first, lab.namespace), (second, lab.slow_namespace)):
        if test.true(f"session {facts['id']} in the list", facts["id"] in listed):
            test.equal("its namespace and state", (listed[facts["id"]]["namespace"], listed[facts["id"]]["state"]),
                       (name, "recording"))
    shown = ctl(host, "session", "show", first["id"])
    for piece in (lab.namespace, "recording", "nvme_setup_cmd"):
        test.contains("session show", shown.stdout, piece)
    sofar = ctl(host, "report", first["id"], "--json")
    test.equal("exit status of the report so far", sofar.status, 0)
    busy = ctl(host, "session", "remove", first["id"])
    test.equal("exit status of remove while it records", busy.status, _SESSION_BUSY)
    test.contains("what remove says", busy.stderr, "stop or cancel it first")

    stopped = ctl(host, "session", "stop", first["id"], second["id"])
    test.equal("exit status of stop", stopped.status, 0)
    for facts, outcome in ((first, counted), (second, slow)):
        report = ntprofctl.Report(ctl(host, "report", facts["id"], "--json").check().json())
        test.equal(f"commands of session {facts['id']}, against fio's I/Os", (report.commands, report.joined),
                   (outcome.ios, outcome.ios))
    newest = ctl(host, "report")
    test.contains("the newest report", newest.stdout, lab.slow_namespace)

    for facts in (first, second):
        test.equal("exit status of remove", ctl(host, "session", "remove", facts["id"]).status, 0)
    gone = ctl(host, "report", first["id"])
    test.equal("exit status of the report of a removed session", gone.status, _NO_SUCH_SESSION)
    left = {entry["id"] for entry in ntprofctl.sessions(host)}
    test.equal("removed sessions in the list", left & {first["id"], second["id"]}, set())


def run(lab: Lab) -> None:
    _ctrl_c(lab)
    with lab.scope.test("two detached sessions at once: list, show, stop, report and remove by id") as test:
        _manage(test, lab)
    with lab.scope.test("a cancelled session has no report, and its programs are gone") as test:
        facts = lab.host.run([*START, "--namespace", lab.namespace, "--detach", "--json"], timeout=300).check().json()
        test.equal("exit status of cancel", ctl(lab.host, "session", "cancel", facts["id"]).status, 0)
        test.equal("exit status of report", ctl(lab.host, "report", facts["id"]).status, _NO_REPORT)
        test.equal("left in the kernel", ntprofctl.left_attached(lab.host), [])
        ctl(lab.host, "session", "remove", facts["id"])
