#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The program itself: arguments, its files, sockets, who may call what, and that it ends."""

from __future__ import annotations

import grp
import os
import pwd
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bus"))

import tap  # noqa: E402
from machines import (  # noqa: E402
    MANAGER, NAME, OBJECT_MANAGER, PEER, PEERD, ROOT, Machine, Pair, peer_path, strangers, wait_until)
from service import spin, stopped  # noqa: E402

NOBODY = 65534


def run(*arguments: str, **how: object) -> subprocess.CompletedProcess:
    return subprocess.run([PEERD, *arguments], capture_output=True, text=True, timeout=60, check=False, **how)


@tap.case
def help_and_version(pair: Pair) -> None:
    for option, text in (("--help", "--state-dir"), ("--version", "ntprof-peerd ")):
        result = run(option)
        assert result.returncode == 0 and text in result.stdout and not result.stderr, result
    assert pair.host.get(ROOT, MANAGER, "Version") == run("--version").stdout.split()[1]


@tap.case
def the_man_page_has_the_same_options(pair: Pair) -> None:
    page = (Path(os.environ.get("NTPROF_SOURCE", ".")) / "docs/man/ntprof-peerd.8.rst").read_text()
    documented = set(re.findall(r"^(--[a-z][a-z-]+)", page, re.MULTILINE))
    helped = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", run("--help").stdout, re.MULTILINE))
    assert documented == helped and len(helped) > 5, documented ^ helped


@tap.case
def wrong_arguments_are_named(pair: Pair) -> None:
    for arguments, text in ((["--foo"], "--foo"), (["extra"], "no argument"), (["--exit-on-idle", "x"], "x"),
                            (["--exit-on-idle", "-1"], "--exit-on-idle"),
                            (["--exit-on-idle", "9", "--listen", "127.0.0.1:0"], "--listen")):
        result = run(*arguments)
        assert result.returncode == 2 and text in result.stderr and result.stderr.count("\n") == 1, result


def refused(machine: Machine, text: str, *more: str, status: int = 1, **how: object) -> None:
    result = subprocess.run(machine.argv(*more), capture_output=True, text=True, timeout=60, check=False, **how)
    assert result.returncode == status and text in result.stderr and result.stderr.count("\n") == 1, (text, result)


@tap.case
def what_it_cannot_start_with_is_named(pair: Pair) -> None:
    refused(pair.host, "org.ntprof1.Peers: another process has this name")
    pair.host.stop()
    refused(pair.host, "--listen 1.2.3.4:5", "--listen", "1.2.3.4:5")
    refused(pair.host, "not a numeric address", "--listen", "localhost:5")
    result = run("--bus", "unix:path=/nonexistent", "--state-dir", str(pair.host.state))
    assert result.returncode == 1 and "/nonexistent" in result.stderr, result

    identity = pair.host.state / "identity.pem"
    before = identity.read_bytes()
    identity.chmod(0o644)
    refused(pair.host, "chmod 600")
    identity.chmod(0o600)
    identity.write_bytes(before[:100])
    refused(pair.host, "restore it from a backup, or remove it")
    assert identity.read_bytes() == before[:100]
    identity.write_bytes(before)
    pair.host.start()


@tap.case
def files_of_its_administrator_that_cannot_be_used_are_told(pair: Pair) -> None:
    pair.host.configure("stor-a", Fingerprint="sha256-" + "1" * 64, Hostnqn="x")
    pair.host.configure("stor-b", Fingerprint="sha256-" + "2" * 64)
    wait_until(lambda: set(pair.host.peers()) == {"stor-b"}, "stor-b", 20)
    assert re.search(r"stor-a\.conf: Hostnqn", pair.host.text()), pair.host.text()
    (pair.host.peers_dir / "stor-b.conf").chmod(0o666)
    wait_until(lambda: pair.host.peers() == {}, "stor-b to be gone", 20)
    assert "chmod go-w" in pair.host.text(), pair.host.text()


@tap.case
def its_secrets_are_its_own(pair: Pair) -> None:
    pair.pair()
    pair.target.invite()
    for path in pair.target.state.rglob("*"):
        assert path.stat().st_mode & 0o022 == 0, path
    for path in [pair.target.state / "identity.pem", *pair.target.invitations()]:
        assert path.stat().st_mode & 0o777 == 0o600, path
    assert pair.target.state.stat().st_mode & 0o777 == 0o700
    assert "PRIVATE" not in pair.target.get(ROOT, MANAGER, "Certificate")


# ---- who may call

def as_nobody(machine: Machine, path: str, method: str, *arguments: str, group: int | None = None, dest: str = NAME) -> str:
    """What gdbus prints to standard error; '' when it succeeded."""
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", f"--groups={group}" if group else "--clear-groups"]
    result = subprocess.run([*become, "gdbus", "call", "--address", machine.service.address, "--dest", dest, "--object-path", path,
                             "--method", method, *arguments], capture_output=True, text=True, timeout=60, check=False)
    return "" if result.returncode == 0 else result.stderr


@tap.case
def others_may_look_and_no_more(pair: Pair) -> None:
    if os.getuid() != 0:
        raise tap.Skip("only root can become another user")
    os.chmod(pair.folder, 0o755)
    pair.pair()
    for path, method, arguments in ((ROOT, "org.ntprof1.PeerManager.Invite", ["{}"]), (ROOT, "org.ntprof1.PeerManager.Join", ["x", "{}"]),
                                    (ROOT, "org.ntprof1.PeerManager.Renew", []), (peer_path("host-a"), "org.ntprof1.Peer.Forget", []),
                                    (peer_path("host-a"), "org.ntprof1.Peer.Test", []),
                                    (f"{ROOT}/internal", "org.ntprof1.internal.Links.FindPeer", ["{}"]),
                                    (f"{ROOT}/internal", "org.ntprof1.internal.Links.OpenTarget", ["host-a", "{}"])):
        message = as_nobody(pair.target, path, method, *arguments)
        assert "org.ntprof1.Error.AccessDenied" in message and method.rpartition(".")[2] in message, (method, message)
    assert as_nobody(pair.target, ROOT, "org.freedesktop.DBus.ObjectManager.GetManagedObjects") == ""
    assert set(pair.target.peers()) == {"host-a"} and pair.target.invitations() == []


@tap.case
def the_bus_policy_says_the_same(pair: Pair) -> None:
    """The installed one, with users and a group that exist here. What it lets through, the daemon refuses: that error is the proof."""
    if os.getuid() != 0:
        raise tap.Skip("only root can become another user")
    os.chmod(pair.folder, 0o755)
    installed = Path(os.environ.get("NTPROF_SOURCE", ".")) / "dbus/org.ntprof1.Peers.conf"
    rules = re.search(r"<busconfig>(.*)</busconfig>", installed.read_text(), re.DOTALL)
    group = next(g for g in grp.getgrall() if g.gr_gid not in (0, NOBODY))
    assert rules
    policy = rules[1].replace('user="ntprof-peer"', 'user="root"').replace('group="ntprof"', f'group="{group.gr_name}"')
    for_ntprofd = policy.replace('user="ntprofd"', f'user="{pwd.getpwuid(NOBODY).pw_name}"')
    calls = {"invite": (ROOT, f"{MANAGER}.Invite", "{}"), "test": (peer_path("host-a"), "org.ntprof1.Peer.Test"),
             "forget": (peer_path("host-a"), "org.ntprof1.Peer.Forget"),
             "find": (f"{ROOT}/internal", "org.ntprof1.internal.Links.FindPeer", "{}")}
    for name, rule, gid, through in (("nobody", policy, None, set()),
                                     ("group", policy, group.gr_gid, {"test"}),
                                     ("ntprofd", for_ntprofd, None, {"find"})):
        machine = pair.another(name, policy=rule)
        machine.configure("host-a", Fingerprint="sha256-" + "1" * 64)
        machine.start()
        for call, words in calls.items():
            text = as_nobody(machine, *words, group=gid)
            expected = "org.ntprof1.Error.AccessDenied" if call in through else "org.freedesktop.DBus.Error.AccessDenied"
            assert expected in text, (name, call, text)
        assert as_nobody(machine, ROOT, "org.freedesktop.DBus.ObjectManager.GetManagedObjects", group=gid) == ""
        assert set(machine.peers()) == {"host-a"}       # root
        machine.stop()
        text = as_nobody(machine, "/org/freedesktop/DBus", "org.freedesktop.DBus.RequestName", NAME, "4", group=gid,
                          dest="org.freedesktop.DBus")
        assert "AccessDenied" in text, (name, text)


# ---- sockets, and its end

@tap.case
def it_takes_the_sockets_of_systemd(pair: Pair) -> None:
    """As systemd hands them over, and only those that listen for TCP."""
    pair.target.stop()
    pair.target.listens = False

    def start(given: socket.socket) -> subprocess.Popen:
        argv = " ".join(f"'{word}'" for word in pair.target.argv())
        return subprocess.Popen(["bash", "-c", f"exec 3<&{given.fileno()}; LISTEN_FDS=1 LISTEN_PID=$$ exec {argv}"],
                                pass_fds=[given.fileno()], stderr=subprocess.PIPE, text=True)

    with socket.socket() as listening, socket.socket(type=socket.SOCK_DGRAM) as datagrams, socket.socket() as silent:
        for wrong in (datagrams, silent):
            wrong.bind(("127.0.0.1", 0))
            with start(wrong) as process:
                _, text = process.communicate(timeout=60)
            assert process.returncode == 1 and "socket 1 of ntprof-peerd.socket" in text, (process.returncode, text)
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        with start(listening) as process:
            wait_until(pair.target.has_name, "the name")
            port = listening.getsockname()[1]
            assert pair.target.get(ROOT, MANAGER, "Listening") == [f"127.0.0.1:{port}"]
            pair.host.join(pair.target.invite(name="host-a"), name="stor-a")
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0


@tap.case
def it_exits_when_idle(pair: Pair) -> None:
    pair.host.stop()
    pair.target.stop()
    pair.target.start()
    pair.host.start("--exit-on-idle", "2")
    peerd = pair.host.peerd
    assert peerd
    pair.pair()
    for _ in range(6):
        time.sleep(0.5)
        pair.host.test("stor-a")
    assert pair.target.peerd
    with stopped(pair.target.peerd):    # an answer that takes longer
        answer = pair.host.client.begin(peer_path("stor-a"), PEER, "Test", NAME)
        time.sleep(4)
    spin(lambda: bool(answer), "the answer")
    assert isinstance(answer[0], tuple), answer
    assert peerd.poll() is None
    begun = time.monotonic()
    assert peerd.wait(30) == 0
    assert 1 <= time.monotonic() - begun < 15
    pair.host.peerd = None
    wait_until(lambda: not pair.target.peers()["host-a"]["Connected"], "the link to be gone", 20)
    pair.host.start()
    assert set(pair.host.peers()) == {"stor-a"}
    pair.host.test("stor-a")


@tap.case
def what_is_asked_as_it_ends_is_answered(pair: Pair) -> None:
    pair.host.stop()
    pair.host.start("--exit-on-idle", "1")
    peerd, client = pair.host.peerd, pair.host.client
    assert peerd
    # It passes on first what came first: the call, then that the daemon gives its name away.
    with stopped(pair.host.service.bus):
        answer = client.begin(ROOT, OBJECT_MANAGER, "GetManagedObjects", NAME)
        time.sleep(3)
    spin(lambda: bool(answer), "the answer")
    assert answer == [({},)], answer
    wait_until(pair.host.has_name, "it to have its name again")
    assert pair.host.peers() == {}
    assert peerd.wait(30) == 0
    pair.host.peerd = None


@tap.case
def it_ends_with_its_bus(pair: Pair) -> None:
    peerd = pair.host.peerd
    assert peerd
    pair.host.peerd = None
    pair.host.service.bus.kill()
    assert peerd.wait(30) == 1
    assert "the connection to the bus was lost" in pair.host.text()


tap.main(strangers)
