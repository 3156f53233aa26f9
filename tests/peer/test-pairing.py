#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How machines become peers, and stop being peers."""

from __future__ import annotations

import re
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bus"))

import tap  # noqa: E402
from machines import (  # noqa: E402
    MANAGER, NAME, PEER, ROOT, WRONG_CODE, Gio, GLib, Machine, Pair, errors_of, now_usec, peer_path, strangers, wait_peers,
    wait_until)

MINUTE = 60_000_000     # us
LINE = re.compile(r"ntprof:127\.0\.0\.1:(\d+):(sha256-[0-9a-f]{64}):([0-9A-Z]{4}-[0-9A-Z]{4})-[0-9A-Z]{4}")
NQN = "nqn.2014-08.org.nvmexpress:uuid:0b6bd2a5-2d2c-4c0c-9f4f-4a8d6f2f7a01"


def check_characters(text: str) -> str:
    """As peerd/line.c makes them, but written independently."""
    import hashlib
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:3], "big") >> 4
    return "".join("0123456789ABCDEFGHJKMNPQRSTVWXYZ"[number >> shift & 31] for shift in (15, 10, 5, 0))


def with_code(line: str, code: str) -> str:
    """The line, but of another code, which only its target can tell."""
    start = line[:-len("XXXX-XXXX-XXXX")] + code
    return f"{start}-{check_characters(start)}"


@tap.case
def a_line_pairs_both(pair: Pair) -> None:
    line, expires = pair.target.invite_until()
    match = LINE.fullmatch(line)
    assert match and int(match[1]) == pair.target.port and match[2] == pair.target.fingerprint(), line
    assert 9 * MINUTE < expires - now_usec() <= 10 * MINUTE, expires
    assert check_characters(line[:-5]) == line[-4:], line

    before = now_usec()
    path, confirmed, name_there = pair.host.join_named(line)
    assert confirmed is False and set(pair.target.peers()) == {name_there}, name_there
    (name, peer), = pair.host.peers().items()
    assert path == peer_path(name)
    assert peer["Fingerprint"] == pair.target.fingerprint() and peer["Address"] == f"127.0.0.1:{pair.target.port}", peer
    assert peer["Origin"] == "paired" and peer["Allow"] == "none" and peer["LastSeenUSec"] >= before, peer
    assert peer["Connected"] is True and peer["Streams"] == 0, peer

    (_, guest), = pair.target.peers().items()
    assert guest["Fingerprint"] == pair.host.fingerprint() and guest["Address"] == "" and guest["Origin"] == "paired", guest
    assert pair.target.invitations() == []


@tap.case
def a_peer_is_tested(pair: Pair) -> None:
    pair.pair()
    outcome = pair.host.test("stor-a")
    assert 0 < outcome["round-trip-usec"] < 10_000_000 and outcome["protocol"] == 1, outcome
    assert re.fullmatch(r"ntprof \d+\.\d+\.\d+", outcome["software"]) and outcome["machine"] and outcome["subsystems"] == [], outcome
    # the link is there, so the other side can use it, too
    assert pair.target.test("host-a")["protocol"] == 1
    assert pair.target.peers()["host-a"]["Connected"] is True


@tap.case
def names_are_as_asked_for(pair: Pair) -> None:
    path, _ = pair.host.join(pair.target.invite(name="host-a"), name="stor-a.example")
    assert path == f"{ROOT}/peer/stor_2da_2eexample", path
    assert set(pair.target.peers()) == {"host-a"} and set(pair.host.peers()) == {"stor-a.example"}


@tap.case
def changes_are_told(pair: Pair) -> None:
    told = []
    pair.target.client.connection.signal_subscribe(
        "org.ntprof1.Peers", None, None, None, None, 0, lambda _c, _s, path, _i, member, args: told.append((path, member, args.unpack())))
    pair.pair()

    def told_connected(connected: bool) -> bool:
        GLib.MainContext.default().iteration(False)
        return any(m == "PropertiesChanged" and a[1].get("Connected") is connected for _, m, a in told)

    # Pairing ends before the link is made, and who never had one loses none.
    wait_until(lambda: told_connected(True) or pair.target.peers()["host-a"]["Connected"], "the link", 20)
    pair.host.stop()
    wait_until(lambda: told_connected(False), "the target to tell that the host is gone", 20)
    added = [a for _, m, a in told if m == "InterfacesAdded"]
    assert len(added) == 1 and added[0][0] == peer_path("host-a") and PEER in added[0][1], told


def seen(machine: Machine, name: str) -> int:
    return machine.peers()[name]["LastSeenUSec"]


@tap.case
def the_end_of_a_link_is_when_it_was_seen(pair: Pair) -> None:
    """Of both: that one's which ends as the link does, and that one's which is left."""
    pair.pair()
    wait_until(lambda: pair.target.peers()["host-a"]["Connected"], "the link")
    time.sleep(1.5)
    before = now_usec()
    assert 0 < seen(pair.host, "stor-a") < before and 0 < seen(pair.target, "host-a") < before
    pair.host.stop()
    wait_until(lambda: seen(pair.target, "host-a") >= before, "the target to have seen the end", 20)
    pair.host.start()
    assert seen(pair.host, "stor-a") >= before
    assert pair.target.peers()["host-a"]["Subsystems"] == [] and not pair.target.peers()["host-a"]["Connected"]


# ---- the line

@tap.case
def a_mistyped_line_is_refused_before_anything_is_sent(pair: Pair) -> None:
    line = pair.target.invite()
    code = line.rpartition(":")[2]
    other = {**dict(zip("0123456789abcdef", "123456789abcdef0")), **{c: "2" if c == "3" else "3" for c in code}}

    def replaced(at: int, by: str) -> str:
        return line[:at] + by + line[at + 1:]

    at_fingerprint, at_code = line.index("sha256-") + 7, len(line) - len(code)
    cases = {
        "begin with": "ntproof" + line[6:],
        "address": line.replace("127.0.0.1", "127.0.0.256"),
        "port": line.replace(f":{pair.target.port}:", ":0:"),
        "fingerprint": replaced(at_fingerprint, "g"),
        "three groups": replaced(at_code, "U"),
    }
    for words, text in cases.items():
        name, message = errors_of(lambda text=text: pair.host.join(text))
        assert name == "InvitationInvalid" and words in message, (words, name, message)
    # a digit of the address, of the port, of the fingerprint, of the code, of the check characters themselves; two exchanged; one left out
    mistyped = [line.replace("127.0.0.1", "127.0.0.2"), line.replace(f":{pair.target.port}:", f":{pair.target.port % 65535 + 1}:"),
                replaced(at_fingerprint, other[line[at_fingerprint]]), replaced(at_code, other[code[0]]),
                replaced(len(line) - 1, other[code[-1]])]
    if line[at_code] != line[at_code + 1]:
        mistyped.append(line[:at_code] + line[at_code + 1] + line[at_code] + line[at_code + 2:])
    for text in mistyped:
        name, message = errors_of(lambda text=text: pair.host.join(text))
        assert name == "InvitationInvalid" and "mistyped" in message, (text, name, message)
    assert pair.host.peers() == {} and pair.target.peers() == {}
    # none of them cost an attempt
    assert "Attempts=0" in pair.target.invitations()[0].read_text()
    pair.host.join(line.lower())


@tap.case
def a_line_is_used_once(pair: Pair) -> None:
    line = pair.target.invite(name="host-a")
    pair.host.join(line, name="stor-a")
    other = pair.another("other")
    other.start()
    name, message = errors_of(lambda: other.join(line))
    assert name in ("InvitationInvalid", "PeerUnreachable"), (name, message)
    assert other.peers() == {} and set(pair.target.peers()) == {"host-a"}
    # nor while another one stands, when anybody may try
    pair.target.invite(name="host-b")
    name, message = errors_of(lambda: other.join(line))
    assert name == "InvitationInvalid" and "used" in message, (name, message)
    # nor for whom it was meant
    pair.host.forget("stor-a")
    wait_peers(pair.target, set())
    name, message = errors_of(lambda: pair.host.join(line))
    assert name == "InvitationInvalid", (name, message)


@tap.case
def a_line_expires(pair: Pair) -> None:
    line, expires = pair.target.invite_until(expires_usec=300_000)
    assert expires - now_usec() < MINUTE
    time.sleep(0.4)
    name, message = errors_of(lambda: pair.host.join(line))
    assert name in ("InvitationInvalid", "PeerUnreachable"), (name, message)
    pair.target.invite()
    name, message = errors_of(lambda: pair.host.join(line))
    assert name == "InvitationInvalid" and "expired" in message, (name, message)
    assert pair.target.peers() == {}


@tap.case
def five_wrong_codes_end_it(pair: Pair) -> None:
    line = pair.target.invite()
    for attempt in range(5):
        assert len(pair.target.invitations()) == 1, attempt
        name, message = errors_of(lambda: pair.host.join(with_code(line, WRONG_CODE)))
        assert name == "InvitationInvalid", (attempt, name, message)
    assert pair.target.invitations() == []
    name, _ = errors_of(lambda: pair.host.join(line))
    assert name in ("InvitationInvalid", "PeerUnreachable"), name
    assert pair.target.peers() == {}


@tap.case
def an_invitation_outlives_its_daemon(pair: Pair) -> None:
    line = pair.target.invite(name="host-a")
    assert line.split(":")[-1][:9] not in pair.target.invitations()[0].read_text()
    pair.target.restart()
    pair.host.join(line)
    assert set(pair.target.peers()) == {"host-a"}


@tap.case
def the_line_of_an_impostor_is_noticed(pair: Pair) -> None:
    """The address is another machine's: nothing is sent to it."""
    line = pair.target.invite()
    other = pair.another("other", listens=True)
    other.start()
    other.invite()
    start = line[:-5].replace(f":{pair.target.port}:", f":{other.port}:")
    name, message = errors_of(lambda: pair.host.join(f"{start}-{check_characters(start)}"))
    assert name in ("PeerUnreachable", "InvitationInvalid") and "fingerprint" in message, (name, message)
    assert pair.host.peers() == {} and other.peers() == {} and "Attempts=0" in other.invitations()[0].read_text()
    pair.host.join(line)


@tap.case
def what_is_refused_costs_no_invitation(pair: Pair) -> None:
    pair.pair()
    line = pair.target.invite()
    name, message = errors_of(lambda: pair.host.join(line))
    assert name == "PeerExists" and "stor-a" in message, (name, message)
    name, message = errors_of(lambda: pair.target.join(line))
    assert name == "InvitationInvalid" and "itself" in message, (name, message)
    other = pair.another("other")
    other.start()
    other.configure("stor-a", Fingerprint="sha256-" + "0" * 64)
    name, message = errors_of(lambda: other.join(line, name="stor-a"))
    assert name == "PeerExists" and "stor-a" in message, (name, message)
    name, message = errors_of(lambda: other.join(line, name="../etc/passwd"))
    assert name == "InvalidOption" and message.startswith("name"), (name, message)
    assert len(pair.target.invitations()) == 1
    other.join(line, name="stor-b")


@tap.case
def options_are_checked(pair: Pair) -> None:
    for given, begins in (({"nickname": "x"}, "nickname"), ({"expires_usec": 0}, "expires-usec"),
                          ({"expires_usec": 25 * 60 * MINUTE}, "expires-usec"),
                          ({"expires_usec": "x"}, "expires-usec"), ({"name": ""}, "name"), ({"name": "a/b"}, "name"),
                          ({"address": "300.1.1.1"}, "address")):
        name, message = errors_of(lambda given=given: pair.target.invite(**given))
        assert name == "InvalidOption" and message.startswith(begins), (given, name, message)
    name, message = errors_of(lambda: pair.host.join(pair.target.invite(), nickname="x"))
    assert name == "InvalidOption" and message.startswith("nickname"), (name, message)


@tap.case
def at_most_sixteen_invitations_stand(pair: Pair) -> None:
    for _ in range(16):
        pair.target.invite()
    name, message = errors_of(pair.target.invite)
    assert "16" in message, (name, message)
    assert len(pair.target.invitations()) == 16


@tap.case
def a_name_is_one_machines(pair: Pair) -> None:
    pair.target.invite(name="host-a")
    name, _ = errors_of(lambda: pair.target.invite(name="host-a"))
    assert name == "PeerExists", name
    pair.host.join(pair.target.invite(name="host-b"))
    name, _ = errors_of(lambda: pair.target.invite(name="host-b"))
    assert name == "PeerExists", name


@tap.case
def the_address_of_the_line(pair: Pair) -> None:
    """As given, with a port or without; for what listens on all, the tests of the bed."""
    port = pair.target.port
    for given, expected in (("10.9.8.7", f"10.9.8.7:{port}"), ("10.9.8.7:99", "10.9.8.7:99"), ("[fe80::7%eth0]", f"[fe80::7%eth0]:{port}"),
                            ("2001:db8::4425", f"[2001:db8::4425]:{port}"), ("Stor-A.example:4425", "stor-a.example:4425")):
        line = pair.target.invite(address=given)
        assert line.lower().startswith(f"ntprof:{expected}:sha256-"), (given, line)


@tap.case
def without_a_socket_there_is_no_invitation(pair: Pair) -> None:
    _, message = errors_of(pair.host.invite)
    assert "systemctl enable --now ntprof-peerd.socket" in message, message
    assert pair.host.get(ROOT, MANAGER, "Listening") == []
    assert pair.target.get(ROOT, MANAGER, "Listening") == [f"127.0.0.1:{pair.target.port}"]


# ---- afterwards

@tap.case
def it_outlives_both_daemons(pair: Pair) -> None:
    pair.pair()
    before = pair.host.peers()["stor-a"]["Fingerprint"], pair.target.fingerprint(), pair.host.fingerprint()
    for machine in (pair.host, pair.target):
        machine.restart()
        pair.host.test("stor-a")
        wait_until(lambda: pair.target.peers()["host-a"]["Connected"], "the target to have the link", 20)
    pair.host.kill()
    pair.target.kill()
    pair.start()
    pair.host.test("stor-a")
    assert before == (pair.host.peers()["stor-a"]["Fingerprint"], pair.target.fingerprint(), pair.host.fingerprint())


@tap.case
def the_host_forgets(pair: Pair) -> None:
    pair.pair()
    assert pair.host.forget("stor-a") is True
    assert pair.host.peers() == {} and pair.host.pins() == []
    wait_peers(pair.target, set())
    assert pair.target.pins() == []
    pair.pair()
    pair.host.test("stor-a")


@tap.case
def the_target_forgets(pair: Pair) -> None:
    pair.pair()
    pair.target.forget("host-a")
    assert pair.target.peers() == {}
    wait_peers(pair.host, set())


@tap.case
def who_cannot_be_told_is_forgotten_all_the_same(pair: Pair) -> None:
    pair.pair()
    pair.target.stop()
    begun = time.monotonic()
    assert pair.host.forget("stor-a") is False
    assert time.monotonic() - begun < 15 and pair.host.peers() == {}
    pair.target.start()
    assert set(pair.target.peers()) == {"host-a"}
    # and finds nobody in when it comes again
    name, message = errors_of(lambda: pair.host.join(pair.target.invite(name="host-b")))
    assert name == "PeerExists" and "host-a" in message, (name, message)
    pair.target.forget("host-a")
    pair.pair()


@tap.case
def confirmed_is_what_the_administrator_has_written(pair: Pair) -> None:
    """peers.d has a host NQN for the name before the host comes, as of `invite --host-nqn`."""
    pair.target.configure("host-a", HostNQN=NQN)
    assert pair.target.peers() == {}            # nobody has this name yet
    path, confirmed = pair.host.join(pair.target.invite(name="host-a"))
    assert confirmed is True
    guest = pair.target.peers()["host-a"]
    assert guest["HostNqns"] == [NQN] and guest["Origin"] == "both" and guest["Allow"] == "observe", guest


@tap.case
def whoever_calls_itself_so_is_not_who_is_meant(pair: Pair) -> None:
    """A file of peers.d that has no fingerprint yet is not for a machine that merely has that name."""
    import socket
    machine = socket.gethostname()
    pair.target.configure(re.sub(r"[^A-Za-z0-9._-]", "-", machine), HostNQN=NQN)
    _, confirmed = pair.host.join(pair.target.invite())
    assert confirmed is False
    (name, guest), = pair.target.peers().items()
    assert name != machine and guest["HostNqns"] == [] and guest["Allow"] == "none", guest


@tap.case
def it_is_confirmed_later(pair: Pair) -> None:
    pair.pair()
    assert pair.target.peers()["host-a"]["Origin"] == "paired"
    pair.target.configure("host-a", HostNQN=NQN, Allow="none")
    guest = pair.target.peers()["host-a"]
    wait_until(lambda: pair.target.peers()["host-a"]["HostNqns"] == [NQN], "the file to be read", 20)
    guest = pair.target.peers()["host-a"]
    assert guest["MaxSampleRate"] == "all" and guest["MaxSessionUSec"] == 0, guest
    pair.target.configure("host-a", HostNQN=NQN, Allow="none", MaxSampleRate="1/16", MaxSessionSec="3600")
    wait_until(lambda: pair.target.peers()["host-a"]["MaxSampleRate"] == "1/16", "the file to be read", 20)
    guest = pair.target.peers()["host-a"]
    assert guest["MaxSessionUSec"] == 60 * MINUTE, guest
    assert guest["Origin"] == "both" and guest["Allow"] == "none" and guest["Fingerprint"] == pair.host.fingerprint(), guest
    pair.host.test("stor-a")


@tap.case
def configured_without_pairing(pair: Pair) -> None:
    """As configuration management does it, from `peer show-identity` of both."""
    pair.target.configure("host-a", Fingerprint=pair.host.fingerprint())
    pair.host.configure("stor-a", Fingerprint=pair.target.fingerprint(), Address=f"127.0.0.1:{pair.target.port}")
    wait_peers(pair.host, {"stor-a"})
    pair.host.test("stor-a")
    wait_peers(pair.target, {"host-a"})
    assert pair.host.peers()["stor-a"]["Origin"] == "configured"
    name, message = errors_of(lambda: pair.host.forget("stor-a"))
    assert name == "AccessDenied" and str(pair.host.peers_dir / "stor-a.conf") in message, (name, message)
    # the file goes, and the link with it
    (pair.target.peers_dir / "host-a.conf").unlink()
    wait_peers(pair.target, set())
    wait_until(lambda: not pair.host.peers()["stor-a"]["Connected"], "the link to be closed", 20)
    name, message = errors_of(lambda: pair.host.test("stor-a"))
    assert name in ("PeerRefused", "PeerUnreachable"), (name, message)


# ---- renewal

@tap.case
def a_key_is_renewed(pair: Pair) -> None:
    pair.pair()
    for machine, name, other, its in ((pair.host, "stor-a", pair.target, "host-a"), (pair.target, "host-a", pair.host, "stor-a")):
        pair.host.test("stor-a")        # the target can only tell over a link that is there
        before = machine.fingerprint()
        assert machine.renew() == {name: ""}
        after = machine.fingerprint()
        assert after != before and other.peers()[its]["Fingerprint"] == after, (before, after)
        assert (machine.state / "identity.pem").stat().st_mode & 0o777 == 0o600
        assert not (machine.state / "identity-next.pem").exists()
        pair.host.test("stor-a")
        machine.restart()
        assert machine.fingerprint() == after
        pair.host.test("stor-a")


@tap.case
def a_renewal_tells_whom_it_did_not_reach(pair: Pair) -> None:
    pair.pair()
    pair.target.stop()
    outcome = pair.host.renew()
    assert "pair it again" in outcome["stor-a"], outcome
    pair.target.start()
    name, message = errors_of(lambda: pair.host.test("stor-a"))
    assert name in ("PeerRefused", "PeerUnreachable"), (name, message)


@tap.case
def one_renewal_after_the_other(pair: Pair) -> None:
    """The host, which has the target's address, is linked again by itself; a target can tell a host only while it is."""
    pair.pair()
    assert pair.host.renew() == {"stor-a": ""}
    wait_until(lambda: pair.target.peers()["host-a"]["Connected"], "the host to be linked again", 20)
    assert pair.target.renew() == {"host-a": ""}
    pair.host.stop()
    outcome = pair.target.renew()
    assert "'ntprofctl peer test' there" in outcome["host-a"] and outcome["host-a"].count("pair it again") == 1, outcome


@tap.case
def a_renewal_that_is_killed_is_finished(pair: Pair) -> None:
    """While one of two peers does not answer; the other knows the new key only."""
    pair.pair()
    slow = pair.another("slow", listens=True)
    slow.start()
    pair.host.join(slow.invite(name="host-a"), name="stor-b")
    before = pair.host.fingerprint()
    assert slow.peerd
    slow.peerd.send_signal(signal.SIGSTOP)
    try:
        pair.host.client.connection.call(NAME, ROOT, MANAGER, "Renew", None, None, Gio.DBusCallFlags.NONE, -1, None, None)
        wait_until(lambda: pair.target.peers()["host-a"]["Fingerprint"] != before and
                   (pair.host.state / "identity-told.pem").exists(), "one to be told")
        pair.host.kill()
    finally:
        slow.peerd.send_signal(signal.SIGCONT)
    pair.host.start()
    assert pair.host.fingerprint() == pair.target.peers()["host-a"]["Fingerprint"]
    pair.host.test("stor-a")
    assert not (pair.host.state / "identity-told.pem").exists()


@tap.case
def a_fingerprint_of_the_administrator_stays(pair: Pair) -> None:
    pair.pair()
    pair.target.configure("host-a", Fingerprint=pair.host.fingerprint())
    outcome = pair.host.renew()
    assert "administrator" in outcome["stor-a"] and pair.host.fingerprint() in outcome["stor-a"], outcome
    assert pair.target.peers()["host-a"]["Fingerprint"] != pair.host.fingerprint()
    pair.host.restart()     # the link of the old key goes on until it ends
    name, message = errors_of(lambda: pair.host.test("stor-a"))
    assert name in ("PeerRefused", "PeerUnreachable"), (name, message)
    pair.target.configure("host-a", Fingerprint=pair.host.fingerprint())
    pair.host.test("stor-a")


@tap.case
def a_renewal_ends_the_invitations_of_the_old_key(pair: Pair) -> None:
    line = pair.target.invite()
    pair.target.renew()
    assert pair.target.invitations() == []
    name, _ = errors_of(lambda: pair.host.join(line))
    assert name in ("InvitationInvalid", "PeerUnreachable"), name


# ---- which peer

@tap.case
def a_peer_is_found(pair: Pair) -> None:
    pair.pair()
    assert pair.host.find(traddr="127.0.0.1") == "stor-a"
    assert pair.host.find(peer="stor-a") == "stor-a"
    assert pair.host.find(subsysnqn="nqn.2026-11.org.ntprof:x", traddr="127.0.0.1") == "stor-a"
    nqn = "nqn.2026-11.org.ntprof:x"
    for where in ({"traddr": "10.0.0.2", "subsysnqn": nqn}, {"subsysnqn": nqn}, {"peer": "stor-b"}):
        name, message = errors_of(lambda where=where: pair.host.find(**where))
        assert name == "NoPeer" and (where.get("traddr") or where.get("subsysnqn") or where.get("peer")) in message, (where, name, message)
        if "peer" not in where:
            assert "ntprofctl peer join" in message, message
    name, message = errors_of(lambda: pair.host.find(nqn="x"))
    assert name == "InvalidOption" and message.startswith("nqn"), (name, message)
    # a name is resolved, an IPv6 address compared as a number
    pair.host.configure("stor-b", Fingerprint="sha256-" + "1" * 64, Address="[2001:DB8:0::7]:4425")
    assert pair.host.find(traddr="2001:db8::7") == "stor-b"
    pair.host.configure("stor-c", Fingerprint="sha256-" + "2" * 64, Address="localhost:4425")
    pair.host.forget("stor-a")
    assert pair.host.find(traddr="127.0.0.1") == "stor-c"


tap.main(strangers)
