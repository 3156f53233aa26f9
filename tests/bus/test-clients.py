#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose session it is: clients that leave, other users, the bus's policy."""

import contextlib
import grp
import os
import pwd
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import make_replay
import tap
from service import MANAGER, NAME, OPEN_POLICY, ROOT, SESSION, Service, private_bus, spin

POLICY = Path(os.environ.get("NTPROF_SOURCE", ".")) / "dbus/org.ntprof1.conf"
NOBODY = 65534


@contextlib.contextmanager
def long(policy: str = OPEN_POLICY) -> Iterator[Service]:
    with private_bus(policy) as service:
        service.start(make_replay.recording(seconds=120, rate=20), speed=1)
        yield service


@tap.case
def a_session_ends_with_its_client(service: Service) -> None:
    watcher, client = service.client(), service.client()
    path = client.start()
    watcher.wait_state(path, "recording")
    client.close()
    watcher.wait_state(path, "finished")
    assert watcher.get(path, "Result") == "cancelled"
    watcher.call(path, SESSION, "Remove")


@tap.case
def a_kept_session_outlives_its_client(service: Service) -> None:
    watcher, client = service.client(), service.client()
    path = client.start(keep=True)
    watcher.wait_state(path, "recording")
    client.close()
    before = watcher.get(path, "RecordedUSec")
    spin(lambda: watcher.get(path, "RecordedUSec") > before, "more of it recorded")
    watcher.call(path, SESSION, "Stop")
    assert watcher.get(path, "Result") == "done" and watcher.get(path, "Keep") is True


@tap.case
def a_report_outlives_its_client(service: Service) -> None:
    watcher, client = service.client(), service.client()
    path = client.start()
    client.wait_state(path, "recording")
    client.call(path, SESSION, "Stop")
    client.close()
    assert watcher.report(path)["schema"] == "org.ntprof.report/1"


@tap.case
def a_client_that_leaves_at_once_leaves_nothing(service: Service) -> None:
    watcher = service.client()
    for _ in range(20):
        client = service.client()
        client.begin(ROOT, MANAGER, "Nothing")
        client.start()
        client.close()
    spin(lambda: all(s["State"] == "finished" for s in watcher.sessions().values()), "all sessions to have ended")
    assert all(s["Result"] == "cancelled" for s in watcher.sessions().values())


def as_user(service: Service, arguments: list[str], groups: str = "") -> subprocess.CompletedProcess:
    """gdbus as nobody, on the same bus."""
    if os.geteuid() != 0:
        raise tap.Skip("only root can become another user")
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", f"--groups={groups}" if groups else "--clear-groups"]
    return subprocess.run([*become, "gdbus", "call", "--address", service.address, "--dest", NAME, *arguments],
                          capture_output=True, text=True, timeout=60, check=False)


START = ["--object-path", ROOT, "--method", f"{MANAGER}.StartSession", "{'namespace': <'nvme6n1'>}"]
INSPECT = ["--object-path", ROOT, "--method", f"{MANAGER}.Inspect", "{}"]
LIST = ["--object-path", ROOT, "--method", "org.freedesktop.DBus.ObjectManager.GetManagedObjects"]


@tap.case
def another_user_may_not_profile(service: Service) -> None:
    for call in (START, INSPECT):
        result = as_user(service, call)
        assert result.returncode != 0 and "org.ntprof1.Error.AccessDenied" in result.stderr, result
        assert "members of the group ntprof" in result.stderr, result.stderr
    assert service.client().sessions() == {}


@tap.case
def another_user_may_see_a_session_and_not_touch_it(service: Service) -> None:
    client = service.client()
    path = client.start()
    client.wait_state(path, "recording")
    for method, argument in (("Stop", []), ("Cancel", []), ("Remove", []), ("GetReport", ["{}"])):
        result = as_user(service, ["--object-path", path, "--method", f"{SESSION}.{method}", *argument])
        assert result.returncode != 0 and "org.ntprof1.Error.AccessDenied" in result.stderr, result
        assert f"(uid {os.getuid()}); only its owner and root may" in result.stderr, result.stderr
    assert client.get(path, "State") == "recording"
    listed = as_user(service, LIST)
    assert listed.returncode == 0 and path in listed.stdout, listed


@contextlib.contextmanager
def policed(peerd: str = "") -> Iterator[tuple[Service, str]]:
    """The installed policy, with a user and a group that exist here in place of ntprof's; the gid of that group."""
    if os.geteuid() != 0:
        raise tap.Skip("only root can become another user")
    group = next(g for g in grp.getgrall() if g.gr_gid not in (0, NOBODY))
    rules = re.search(r"<busconfig>(.*)</busconfig>", POLICY.read_text(), re.DOTALL)
    assert rules
    policy = rules[1].replace('user="ntprofd"', 'user="root"').replace('group="ntprof"', f'group="{group.gr_name}"')
    assert policy != rules[1]
    if peerd:
        policy = policy.replace('user="ntprof-peer"', f'user="{peerd}"')
    with long(policy) as service:
        yield service, str(group.gr_gid)


def without_service(function) -> None:
    def run(_service: Service) -> None:
        function()

    run.__name__ = function.__name__
    tap.case(run)


@without_service
def the_bus_policy_keeps_other_users_from_methods() -> None:
    with policed() as (service, _):
        for call in (START, INSPECT):
            result = as_user(service, call)
            assert result.returncode != 0 and "org.freedesktop.DBus.Error.AccessDenied" in result.stderr, result
        assert as_user(service, LIST).returncode == 0
        for call in (["--object-path", ROOT, "--method", "org.freedesktop.DBus.Introspectable.Introspect"],
                     ["--object-path", ROOT, "--method", "org.freedesktop.DBus.Properties.GetAll", MANAGER]):
            result = as_user(service, call)
            assert result.returncode == 0, result


@without_service
def the_bus_policy_lets_the_group_through_to_the_daemon() -> None:
    with policed() as (service, gid):
        # The daemon looks at the user database, in which nobody is no member: its own error is the proof.
        result = as_user(service, START, groups=gid)
        assert "org.ntprof1.Error.AccessDenied" in result.stderr, result
        path = service.client().start(keep=True)
        assert service.client().get(path, "Owner") == 0


DESCRIBE = ["--object-path", f"{ROOT}/internal", "--method", "org.ntprof1.internal.Target.Describe"]
OPEN_TARGET = ["--object-path", f"{ROOT}/internal", "--method", "org.ntprof1.internal.Target.OpenTarget", "{}", "{}"]


@tap.case
def what_is_for_other_machines_is_for_their_daemon_only(service: Service) -> None:
    for call in (DESCRIBE, OPEN_TARGET):
        result = as_user(service, call)
        assert "org.ntprof1.Error.AccessDenied" in result.stderr and "only root and ntprof-peerd may" in result.stderr, result


@without_service
def the_bus_policy_keeps_the_group_from_what_is_for_other_machines() -> None:
    with policed() as (service, gid):
        for groups in ("", gid):
            for call in (DESCRIBE, OPEN_TARGET):
                result = as_user(service, call, groups=groups)
                assert "org.freedesktop.DBus.Error.AccessDenied" in result.stderr, result


@without_service
def the_bus_policy_lets_the_daemon_of_links_through_to_that_only() -> None:
    user = pwd.getpwuid(NOBODY).pw_name
    with policed(peerd=user) as (service, _):
        for call in (DESCRIBE, OPEN_TARGET):
            # The daemon looks who it is, and it is not ntprof-peer: its own error is the proof.
            assert "org.ntprof1.Error.AccessDenied" in as_user(service, call).stderr
        assert "org.freedesktop.DBus.Error.AccessDenied" in as_user(service, START).stderr


@without_service
def the_bus_policy_lets_nobody_else_own_the_name() -> None:
    with policed() as (service, _):
        service.stop()
        result = subprocess.run(
            ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "gdbus", "call", "--address", service.address,
             "--dest", "org.freedesktop.DBus", "--object-path", "/org/freedesktop/DBus", "--method",
             "org.freedesktop.DBus.RequestName", NAME, "0"], capture_output=True, text=True, timeout=60, check=False)
        assert "org.freedesktop.DBus.Error.AccessDenied" in result.stderr, result


tap.main(long)
