#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pairing as README.md tells it, by ntprofctl on both machines."""

import json
import os
import re
import subprocess
from pathlib import Path

import machines
import tap
from machines import PATIENCE, Machine, Pair, strangers, wait_until

NTPROFCTL = os.environ.get("NTPROFCTL", "build/client/ntprofctl/ntprofctl")
NQN = "nqn.2014-08.org.nvmexpress:uuid:1f01fb42-9f7f-4856-b0b3-51e60b8de349"
NO_PEER, PEER_UNREACHABLE, INVITATION_INVALID, PEER_EXISTS = 14, 15, 18, 19


def peer(machine: Machine, *arguments: str, status: int = 0) -> str:
    """What it prints; what goes wrong when a status is expected."""
    env = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": machine.service.address, "NTPROF_PEERS_DIR": str(machine.peers_dir),
           "LC_ALL": "C.UTF-8"}
    done = subprocess.run([NTPROFCTL, "peer", *arguments], env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=PATIENCE, check=False)
    assert done.returncode == status, done
    return done.stderr if status else done.stdout


def shown(machine: Machine, name: str) -> dict:
    return json.loads(peer(machine, "show", name, "--json"))


def line_of(text: str) -> str:
    found = re.search(r"ntprof:\S+", text)
    assert found, text
    return found[0]


@tap.case
def invite_join_confirm(pair: Pair) -> None:
    line = line_of(peer(pair.target, "invite"))
    wrong = line[:-1] + ("0" if line[-1] != "0" else "1")
    assert "mistyped" in peer(pair.host, "join", wrong, status=INVITATION_INVALID)
    out = peer(pair.host, "join", line, "--name", "stor-a")
    command = re.search(r"on stor-a, run 'ntprofctl peer confirm (\S+)'", out)
    assert out.startswith("Paired with stor-a.") and command, out
    assert "stor-a" in peer(pair.host, "join", line, status=PEER_EXISTS)

    name = json.loads(peer(pair.target, "list", "--json"))["peers"][0]["name"]
    assert command[1] == name, out
    assert shown(pair.target, name)["allow"] == "none"
    assert "\nLimits: at most 1/16 of" in peer(pair.target, "confirm", name, "--host-nqn", NQN, "--max-sample-rate", "1/16")
    wait_until(lambda: shown(pair.target, name)["host_nqns"] == [NQN], "the daemon to have read the file")
    assert "  limits      at most 1/16 of the commands\n" in peer(pair.target, "show", name)
    assert shown(pair.target, name)["allow"] == "observe" and shown(pair.target, name)["origin"] == "both"

    assert peer(pair.host, "test", "stor-a").startswith("stor-a answers in ")
    identity = json.loads(peer(pair.target, "show-identity", "--json"))
    assert shown(pair.host, "stor-a")["fingerprint"] == identity["fingerprint"] and identity["fingerprint"] in line

    peer(pair.host, "renew")
    assert peer(pair.host, "test", "stor-a").startswith("stor-a answers in ")
    fingerprint = json.loads(peer(pair.host, "show-identity", "--json"))["fingerprint"]
    assert shown(pair.target, name)["fingerprint"] == fingerprint

    # Forgotten here, with what it might do, and there.
    out = peer(pair.target, "forget", name)
    assert out.startswith(f"{name} is forgotten.\n") and "is removed" in out and "told" not in out, out
    assert list(pair.target.peers_dir.iterdir()) == []
    machines.wait_peers(pair.host, set())


@tap.case
def what_is_left_of_a_host_that_forgot(pair: Pair) -> None:
    """The host forgets; its grant is left on the target, and can be taken away there by its name."""
    peer(pair.host, "join", line_of(peer(pair.target, "invite", "--name", "host-a", "--host-nqn", NQN)), "--name", "stor-a")
    peer(pair.host, "forget", "stor-a")
    machines.wait_peers(pair.target, set())
    peer(pair.host, "join", line_of(peer(pair.target, "invite", "--name", "host-b")), "--name", "stor-a")
    refused = peer(pair.target, "confirm", "host-b", "--host-nqn", NQN, status=PEER_EXISTS)
    assert "'ntprofctl peer forget host-a' takes it away" in refused, refused
    assert "host-a.conf is removed" in peer(pair.target, "forget", "host-a")
    peer(pair.target, "confirm", "host-b", "--host-nqn", NQN)
    peer(pair.target, "forget", "host-a", status=NO_PEER)


@tap.case
def invited_with_its_nqn(pair: Pair) -> None:
    invitation = peer(pair.target, "invite", "--name", "host-a", "--host-nqn", NQN, "--expires", "1h")
    assert "(1 h, one use)" in invitation and f"{pair.target.peers_dir}/host-a.conf" in invitation, invitation
    out = peer(pair.host, "join", line_of(invitation), "--name", "stor-a")
    assert "confirm" not in out, out
    assert shown(pair.target, "host-a")["host_nqns"] == [NQN] and shown(pair.target, "host-a")["allow"] == "observe"
    peer(pair.host, "join", line_of(invitation), "--name", "stor-b", status=PEER_EXISTS)


@tap.case
def configured_without_an_invitation(pair: Pair) -> None:
    for machine, other, name in ((pair.host, pair.target, "stor-a"), (pair.target, pair.host, "host-a")):
        (machine.peers_dir / f"{name}.conf").write_text(peer(other, "show-identity", "--conf"))
    wait_until(lambda: "stor-a" in peer(pair.host, "list") and "host-a" in peer(pair.target, "list"), "the files to be read")
    assert peer(pair.host, "test", "stor-a").startswith("stor-a answers in ")
    pair.target.stop()
    assert "stor-a: " in peer(pair.host, "test", "stor-a", status=PEER_UNREACHABLE)
    pair.target.start()
    assert "stor-x" in peer(pair.host, "test", "stor-x", status=NO_PEER)


@tap.case
def two_that_are_not_installed(pair: Pair) -> None:
    """./dev run, within another one."""
    run = f"{os.environ.get('NTPROF_SOURCE', '.')}/tests/dev/run.sh"
    script = f"""line=$(ntprofctl peer invite --name host-a | grep -o 'ntprof:[^ ]*')
               {run} ntprofctl peer join "$line" --name stor-a && ntprofctl peer list --json && ntprofctl session list"""
    env = {**os.environ, "NTPROF_BUILD": str(Path(NTPROFCTL).resolve().parents[2])}
    done = subprocess.run([run, "bash", "-c", script], env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0 and "Paired with stor-a." in done.stdout and '"host-a"' in done.stdout, done


tap.main(strangers)
