#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The verbs `ntprofctl peer` against a mock of ntprof-peerd (mock_peers.py)."""

import contextlib
import json
import os
import pty
import shutil
import subprocess
from collections.abc import Iterator

import mock_peers
import tap
from ctl import (ACCESS_DENIED, INVITATION_INVALID, NO_PEER, NO_SERVICE, NTPROFCTL, PEER_EXISTS, PEER_UNREACHABLE, USAGE,
                 bus_only, environment, finish, popen, run)
from mock_peers import FINGERPRINT, HOST_NQN, LINE, SUBSYSTEMS
from peers import POLICY, Mocked, mocked
from service import PATIENCE, private_bus

NQN = "nqn.2014-08.org.nvmexpress:uuid:1f01fb42-9f7f-4856-b0b3-51e60b8de349"


def peer(mock: Mocked, *arguments: str, status: int = 0, **how: object) -> subprocess.CompletedProcess:
    return run(None, "peer", *arguments, status=status, env=environment(mock.address, NTPROF_PEERS_DIR=str(mock.peers_dir())), **how)


def fails(mock: Mocked, status: int, *arguments: str) -> str:
    result = peer(mock, *arguments, status=status)
    assert result.stdout == "" and result.stderr.startswith("ntprofctl: "), result
    return result.stderr


def conf(mock: Mocked, name: str) -> dict[str, str]:
    """Of a peer's file."""
    lines = (mock.peers_dir() / f"{name}.conf").read_text().splitlines()
    assert lines[0] == "[Peer]", lines
    return dict(line.split("=", 1) for line in lines[1:])


@tap.case
def an_invitation(mock: Mocked) -> None:
    result = peer(mock, "invite")
    lines = result.stdout.splitlines()
    assert lines[0] == f"Give this to the host (10 min, one use):  {LINE}", lines
    assert "ntprofctl peer confirm NAME" in lines[1] and len(lines) == 2 and result.stderr == "", result
    assert "(2 min, one use)" in peer(mock, "invite", "--expires", "2min", "--name", "host-c", "--address", "10.9.9.9").stdout
    assert mock.calls() == [["Invite", {}], ["Invite", {"address": "10.9.9.9", "expires-usec": 120_000_000, "name": "host-c"}]]
    assert not mock.peers_dir().exists()
    assert "stor-a: a peer is called so" in fails(mock, PEER_EXISTS, "invite", "--name", "stor-a")


@tap.case
def an_invitation_that_leaves_nothing_to_confirm(mock: Mocked) -> None:
    out = peer(mock, "invite", "--name", "host-c", "--host-nqn", NQN).stdout
    assert out.splitlines()[1] == f"host-c may have the commands of {NQN} recorded here ({mock.peers_dir()}/host-c.conf).", out
    assert conf(mock, "host-c") == {"HostNQN": NQN}
    # again, when the first has expired
    out = peer(mock, "invite", "--name", "host-c", "--host-nqn", NQN, "--host-nqn", HOST_NQN, "--allow", "none").stdout
    assert "may have nothing recorded" in out and conf(mock, "host-c") == {"HostNQN": f"{NQN} {HOST_NQN}", "Allow": "none"}
    # nothing new is said of it, and it isn't kept quiet that it may do something
    assert f"is in {mock.peers_dir()}/host-c.conf already" in peer(mock, "invite", "--name", "host-c").stdout
    # one NQN, one peer: refused before anything is asked of anybody
    before = mock.calls()
    message = fails(mock, PEER_EXISTS, "invite", "--name", "host-d", "--host-nqn", NQN)
    assert "host-c.conf" in message and "one peer only" in message and mock.calls() == before, message
    # the daemon refuses: no file
    fails(mock, PEER_EXISTS, "invite", "--name", "stor-a", "--host-nqn", "nqn.2026-01.org.example:q")
    assert [p.name for p in mock.peers_dir().iterdir()] == ["host-c.conf"]


@tap.case
def nothing_listens(_mock: Mocked) -> None:
    with mocked(listening="") as mock:
        assert "ntprof-peerd.socket" in peer(mock, "show-identity").stdout
        assert "Address=" not in peer(mock, "show-identity", "--conf").stdout


@tap.case
def joining(mock: Mocked) -> None:
    result = peer(mock, "join", "ntprof:known", "--name", "stor-q")
    assert result.stdout == "Paired with stor-q. It exports 3 subsystems, and this machine uses none of them.\n", result.stdout
    assert result.stderr == "" and mock.calls() == [["Join", "ntprof:known", {"name": "stor-q"}]]
    # not confirmed, and it does not say what it exports: it is asked
    result = peer(mock, "join", "ntprof:other")
    assert result.stdout == ("Paired with stor-z.\n"
                             "Not confirmed yet: on stor-z, run 'ntprofctl peer confirm host-q' (as root).\n"
                             "Until then nothing is recorded there.\n"), result.stdout
    assert "paired, but stor-z: no address" in result.stderr and mock.calls()[-1] == ["Test"], result
    # nor does it say what this machine is called there
    text = peer(mock, "join", "ntprof:nameless", "--name", "stor-y").stdout
    assert "'ntprofctl peer confirm NAME' (as root; 'ntprofctl peer list' there has the NAME)." in text, text
    assert "mistyped" in fails(mock, INVITATION_INVALID, "join", "nonsense")


@tap.case
def confirming(mock: Mocked) -> None:
    assert "give --host-nqn NQN, or --yes" in fails(mock, USAGE, "confirm", "host-a")
    assert not mock.peers_dir().exists()
    out = peer(mock, "confirm", "host-a", "--yes").stdout
    assert out == f"host-a may have the commands of {HOST_NQN} recorded here ({mock.peers_dir()}/host-a.conf).\n", out
    assert conf(mock, "host-a") == {"HostNQN": HOST_NQN}
    mode = os.stat(mock.peers_dir() / "host-a.conf").st_mode & 0o777
    assert mode == 0o644, oct(mode)

    out = peer(mock, "confirm", "host-a", "--host-nqn", NQN, "--max-sample-rate", "1/16", "--max-session-sec", "3600").stdout
    assert out.endswith("host-a.conf).\nLimits: at most 1/16 of the commands, at most 1 h a recording.\n"), out
    assert conf(mock, "host-a") == {"HostNQN": NQN, "MaxSampleRate": "1/16", "MaxSessionSec": "3600"}
    out = peer(mock, "confirm", "host-a", "--host-nqn", NQN, "--max-session-sec", "0").stdout
    assert out.endswith("\nLimits: at most 1/16 of the commands.\n"), out
    out = peer(mock, "confirm", "host-a", "--host-nqn", NQN, "--allow", "none").stdout
    assert "Limits" not in out, out
    assert conf(mock, "host-a") == {"HostNQN": NQN, "Allow": "none", "MaxSampleRate": "1/16"}     # what isn't said stays
    assert mock.calls() == []       # nothing of it goes through the daemon

    assert "host-a.conf" in fails(mock, PEER_EXISTS, "confirm", "host-b", "--host-nqn", NQN)
    assert "stor-a claims no host NQN" in fails(mock, 1, "confirm", "stor-a", "--yes")
    assert "host-x" in fails(mock, NO_PEER, "confirm", "host-x", "--yes")


@tap.case
def a_file_that_cannot_be_read_is_not_written_over(mock: Mocked) -> None:
    mock.peers_dir().mkdir()
    file = mock.peers_dir() / "host-a.conf"
    file.write_text("[Peer]\nColour=red\n")
    result = peer(mock, "confirm", "host-a", "--yes", status=1)
    assert "Colour" in result.stderr and file.read_text() == "[Peer]\nColour=red\n", result


@contextlib.contextmanager
def on_a_terminal(mock: Mocked, *arguments: str) -> Iterator[tuple[int, subprocess.Popen]]:
    master, slave = pty.openpty()
    env = environment(mock.address, NTPROF_PEERS_DIR=str(mock.peers_dir()))
    process = popen(mock.address, "peer", *arguments, env=env, stdin=slave)
    os.close(slave)
    try:
        yield master, process
    finally:
        os.close(master)


@tap.case
def a_person_is_asked(mock: Mocked) -> None:
    for answer, status in ((b"n\n", 1), (b"\n", 1), (b"y\n", 0)):
        with on_a_terminal(mock, "confirm", "host-a") as (master, process):
            os.write(master, answer)
            result = finish(process, status)
        assert HOST_NQN in result.stderr and "sha256-cdcd" in result.stderr and "[y/N]" in result.stderr, result.stderr
        assert (mock.peers_dir() / "host-a.conf").exists() == (status == 0), answer
        assert ("not confirmed" in result.stderr) == (status == 1)


@tap.case
def only_root_may_grant(_mock: Mocked) -> None:
    if os.geteuid() != 0:
        raise tap.Skip("needs to be root, to be somebody else")
    policy = '<policy context="default"> <allow user="*"/> </policy>' + POLICY
    with private_bus(policy) as service:
        mock = Mocked(service, "[::]:4425")
        try:
            program = service.folder / "ntprofctl"      # the build may be in a folder that others can't read
            shutil.copy(NTPROFCTL, program)
            folder = service.folder / "lib"
            shutil.copytree(os.environ["LD_LIBRARY_PATH"].split(":")[0], folder, ignore=lambda _d, n: [x for x in n if ".so" not in x],
                            symlinks=True)
            for arguments in (["confirm", "host-a", "--yes"], ["invite", "--name", "host-c", "--host-nqn", NQN]):
                env = environment(service.address, NTPROF_PEERS_DIR="/etc/ntprof-nowhere/peers.d", LD_LIBRARY_PATH=str(folder))
                done = subprocess.run([program, "peer", *arguments], env=env, user=65534, group=65534, extra_groups=[],
                                      capture_output=True, text=True, timeout=PATIENCE, check=False)
                assert done.returncode == ACCESS_DENIED and "sudo" in done.stderr, done
            assert mock.calls() == []
        finally:
            mock.stop()


@tap.case
def listing(mock: Mocked) -> None:
    rows = [line.split() for line in peer(mock, "list").stdout.splitlines()]
    assert rows[0] == ["NAME", "ADDRESS", "LINK", "SEEN", "ALLOW", "SUBSYSTEMS"], rows
    assert rows[1] == ["host-a", "-", "-", "-", "unconfirmed", "0"] and rows[2] == ["host-b", "-", "-", "-", "observe", "0"], rows
    assert rows[3][:3] == ["stor-a", "10.0.0.2:4425", "recording"] and rows[3][-1] == "3", rows
    document = json.loads(peer(mock, "list", "--json").stdout)
    assert document["schema"] == "org.ntprof.peers/1" and [p["name"] for p in document["peers"]] == ["host-a", "host-b", "stor-a"]
    assert document["peers"][0]["claimed_host_nqns"] == [HOST_NQN] and document["peers"][1]["origin"] == "configured"


@tap.case
def showing(mock: Mocked) -> None:
    text = peer(mock, "show", "stor-a").stdout
    for words in ("peer stor-a\n", "  fingerprint sha256-cdcd", "  address     10.0.0.2:4425\n", "  link        connected, 1 recording\n",
                  "  host NQNs   none\n", f"  exports     {SUBSYSTEMS[0]}\n              {SUBSYSTEMS[1]}\n"):
        assert words in text, (words, text)
    assert "limits" not in text
    assert "ntprofctl peer confirm host-a" in peer(mock, "show", "host-a").stdout
    text = peer(mock, "show", "host-b").stdout
    assert "  limits      at most 1/16 of the commands, at most 1 h a recording\n" in text, text
    limited = json.loads(peer(mock, "show", "host-b", "--json").stdout)
    assert limited["max_sample_rate"] == "1/16" and limited["max_session_usec"] == 3_600_000_000, limited
    assert json.loads(peer(mock, "show", "stor-a", "--json").stdout) == {
        "schema": "org.ntprof.peer/1", "name": "stor-a", "fingerprint": "sha256-" + "cd" * 32, "address": "10.0.0.2:4425",
        "origin": "paired", "claimed_host_nqns": [], "host_nqns": [], "allow": "none", "max_sample_rate": "all",
        "max_session_usec": 0, "subsystems": SUBSYSTEMS, "connected": True, "streams": 1,
        "last_seen_usec": 1_700_000_000_000_000}
    assert "host-x: no machine is paired" in fails(mock, NO_PEER, "show", "host-x")


@tap.case
def testing(mock: Mocked) -> None:
    text = peer(mock, "test", "stor-a").stdout
    for words in ("stor-a answers in 0.42 ms\n", "  software    ntprof 0.1.0\n", "  protocol    1\n", f"  exports     {SUBSYSTEMS[0]}\n"):
        assert words in text, (words, text)
    assert json.loads(peer(mock, "test", "stor-a", "--json").stdout) == {
        "schema": "org.ntprof.peer-answer/1", "name": "stor-a", "round_trip_usec": 420, "machine": "stor-a",
        "software": "ntprof 0.1.0", "protocol": 1, "subsystems": SUBSYSTEMS}
    assert "host-a: no address" in fails(mock, PEER_UNREACHABLE, "test", "host-a")


@tap.case
def forgetting(mock: Mocked) -> None:
    peer(mock, "confirm", "host-a", "--yes")
    # what it might do doesn't wait for the next machine of that name
    lines = peer(mock, "forget", "host-a").stdout.splitlines()
    assert lines[:2] == ["host-a is forgotten.",
                         "It could not be told: on host-a, run 'ntprofctl peer forget' for this machine, too."], lines
    assert len(lines) == 3 and lines[2].endswith("/host-a.conf is removed)."), lines
    assert list(mock.peers_dir().iterdir()) == []
    result = peer(mock, "forget", "host-b", "stor-a", status=ACCESS_DENIED)
    assert "host-b.conf" in result.stderr and result.stdout == "stor-a is forgotten.\n", result      # which was told
    left = json.loads(peer(mock, "list", "--json").stdout)["peers"]
    assert [p["name"] for p in left] == ["host-b"]      # stor-a is forgotten all the same
    assert peer(mock, "forget", "host-b", status=ACCESS_DENIED).stdout == ""


@tap.case
def renewing(mock: Mocked) -> None:
    result = peer(mock, "renew", status=1)
    assert result.stdout.splitlines()[1:] == ["host-a: it does not answer: pair it again", "stor-a: told"], result.stdout


@tap.case
def this_machine(mock: Mocked) -> None:
    text = peer(mock, "show-identity").stdout
    assert f"  fingerprint {FINGERPRINT}\n" in text and "  listening   [::]:4425\n" in text, text
    document = json.loads(peer(mock, "show-identity", "--json").stdout)
    assert document == {"schema": "org.ntprof.identity/1", "fingerprint": FINGERPRINT, "listening": ["[::]:4425"],
                        "certificate": "-----BEGIN CERTIFICATE-----\n"}
    lines = peer(mock, "show-identity", "--conf").stdout.splitlines()
    assert lines[:2] == ["[Peer]", f"Fingerprint={FINGERPRINT}"] and lines[2] == f"Address={os.uname().nodename}:4425", lines
    # another machine can use it as it is
    mock.peers_dir().mkdir()
    (mock.peers_dir() / "host-a.conf").write_text("\n".join(lines) + "\n")
    peer(mock, "confirm", "host-a", "--yes")
    assert conf(mock, "host-a")["Fingerprint"] == FINGERPRINT and conf(mock, "host-a")["HostNQN"] == HOST_NQN


@tap.case
def wrong_command_lines_are_explained(mock: Mocked) -> None:
    for arguments, words in (
        (("invite", "--host-nqn", NQN), "--host-nqn needs --name"),
        (("invite", "--name", "host-c", "--allow", "observe"), "--allow needs --host-nqn"),
        (("invite", "--name", "-x", "--host-nqn", NQN), "'-x' can't be the name of a peer"),
        (("invite", "--name", "host-c", "--host-nqn", "uuid:1"), "'uuid:1' is no NQN"),
        (("invite", "--name", "host-c", "--host-nqn", NQN, "--allow", "all"), "--allow: "),
        (("invite", "--expires", "10x"), "--expires: "),
        (("invite", "--expires", "25h"), "at most a day"),
        (("invite", "--expires", "infinity"), "at most a day"),
        (("invite", "host-c"), "too many arguments: 'host-c'"),
        (("join",), "the line is missing that 'ntprofctl peer invite' printed"),
        (("join", "ntprof:\udcff"), "join: argument 1 is not UTF-8"),
        (("test", "\udcff\udcfe"), "test: argument 1 is not UTF-8"),
        (("show",), "which peer? 'ntprofctl peer list'"),
        (("forget",), "which peer?"),
        (("confirm", "host-a", "--host-nqn", "x"), "'x' is no NQN"),
        (("confirm", "host-a", "--yes", "--max-sample-rate", "0"), "--max-sample-rate: "),
        (("confirm", "host-a", "--yes", "--max-session-sec", "-5"), "--max-session-sec: "),
        (("show-identity", "--json", "--conf"), "not both"),
    ):
        message = fails(mock, USAGE, *arguments)
        assert words in message, (arguments, message)
    assert mock.calls() == [] and not mock.peers_dir().exists()


@tap.case
def help_fits_a_terminal(_mock: Mocked) -> None:
    for verb in ("invite", "join", "confirm", "list", "show", "test", "forget", "renew", "show-identity"):
        text = run(None, "peer", verb, "--help", env=environment("unix:path=/nonexistent/bus")).stdout
        assert text.startswith(f"Usage:\n  ntprofctl peer {verb}") and max(map(len, text.splitlines())) <= 80, text


@tap.case
def there_is_no_peerd(_mock: Mocked) -> None:
    with bus_only() as service:
        for verb in (["list"], ["show", "stor-a"], ["invite"], ["join", "ntprof:x"], ["renew"], ["show-identity"], ["forget", "x"]):
            result = run(service, "peer", *verb, status=NO_SERVICE)
            assert "ntprof-peerd isn't on the bus" in result.stderr and "installed" in result.stderr, result.stderr


@tap.case
def the_bus_says_no(_mock: Mocked) -> None:
    policy = POLICY + f"""<policy context="default">
        <deny send_destination="{mock_peers.NAME}" send_interface="{mock_peers.MANAGER}"/> </policy>"""
    with private_bus(policy) as service:
        mock = Mocked(service, "[::]:4425")
        try:
            result = peer(mock, "invite", status=ACCESS_DENIED)
            assert "become root" in result.stderr, result.stderr
        finally:
            mock.stop()


tap.main(mocked)
