#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Nobody gets in, and nobody keeps others out."""

from __future__ import annotations

import contextlib
import socket
import ssl
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bus"))

import tap  # noqa: E402
from machines import Machine, Pair, errors_of, paired, wait_until  # noqa: E402
from raw import Closed, RawLink  # noqa: E402
from gi.repository import Gio, GLib  # noqa: E402

SILENT = 1000
MESSAGE_MAX = (1 << 20) + (64 << 10)


def identity(machine: Machine) -> Path:
    return machine.state / "identity.pem"


def n_threads(machine: Machine) -> int:
    assert machine.peerd
    return len(list(Path(f"/proc/{machine.peerd.pid}/task").iterdir()))


def n_files(machine: Machine) -> int:
    assert machine.peerd
    return len(list(Path(f"/proc/{machine.peerd.pid}/fd").iterdir()))


def rss_bytes(machine: Machine) -> int:
    assert machine.peerd
    return int(Path(f"/proc/{machine.peerd.pid}/statm").read_text().split()[1]) * 4096


def is_sanitized(machine: Machine) -> bool:
    """Its memory is kept after it was freed, so how much there is says nothing."""
    assert machine.peerd
    return "libasan" in Path(f"/proc/{machine.peerd.pid}/maps").read_text()


def closed(make) -> str:
    """How the other side closed on make(), which must not get an answer."""
    try:
        link = make()
        link.greet()
        answer = link.hello()
    except Closed as how:
        return str(how)
    raise AssertionError(f"an answer: {answer.print_(0)}")


def intruder(pair: Pair) -> Machine:
    """A machine with an identity of its own, and no pin anywhere."""
    machine = pair.another("intruder")
    machine.start()
    return machine


def still_works(pair: Pair) -> None:
    begun = time.monotonic()
    pair.host.test("stor-a")
    assert time.monotonic() - begun < 10


# ---- certificates

@tap.case
def the_target_is_another(pair: Pair) -> None:
    """Its key was replaced without a word: the host does not talk to it."""
    pair.target.stop()
    identity(pair.target).unlink()
    pair.target.start()
    name, message = errors_of(lambda: pair.host.test("stor-a"))
    assert name == "PeerUnreachable" and "stor-a" in message, (name, message)
    assert pair.target.fingerprint() in message or "certificate" in message or "fingerprint" in message, message


@tap.case
def the_host_is_another(pair: Pair) -> None:
    pair.host.stop()
    identity(pair.host).unlink()
    pair.host.start()
    name, message = errors_of(lambda: pair.host.test("stor-a"))
    assert name in ("PeerRefused", "PeerUnreachable") and "stor-a" in message, (name, message)
    assert not pair.target.peers()["host-a"]["Connected"]


@tap.case
def no_certificate_no_pin_no_old_tls(pair: Pair) -> None:
    other = intruder(pair)
    closed(lambda: RawLink(pair.target, None))
    closed(lambda: RawLink(pair.target, identity(other)))
    closed(lambda: RawLink(pair.target, identity(pair.target)))
    closed(lambda: RawLink(pair.target, identity(pair.host), ssl.TLSVersion.TLSv1_2))
    # it can succeed
    link = RawLink(pair.target, identity(pair.host))
    link.greet()
    assert link.hello().get_message_type() == Gio.DBusMessageType.METHOD_RETURN
    link.close()
    still_works(pair)


@tap.case
def a_guest_can_hand_in_a_code_and_no_more(pair: Pair) -> None:
    other = intruder(pair)
    pair.target.invite()

    def guest() -> RawLink:
        link = RawLink(pair.target, identity(other))
        link.greet()
        return link

    link = guest()
    its = link.hello().get_body().unpack()
    assert its[0] == 1 and set(its[1]) == {"software", "machine"}, its
    calls = {"OpenTarget": GLib.Variant("(a{sv})", ({},)), "Data": GLib.Variant("(tay)", (0, b"x")), "Forget": None,
             "Close": GLib.Variant("(ts)", (0, "")), "Renew": GLib.Variant("(s)", ("sha256-" + "0" * 64,))}
    link.close()
    for member, arguments in calls.items():
        link = guest()
        link.hello()
        link.send(link.message(member, arguments))
        link.wait_closed()
    # a message beyond what a guest needs closes the link, before any of it is kept
    link = guest()
    link.hello()
    link.send(link.message("Join", GLib.Variant("(sa{sv})", ("x" * (32 << 10), {}))))
    link.wait_closed()
    assert set(pair.target.peers()) == {"host-a"} and len(pair.target.invitations()) == 1
    still_works(pair)


@tap.case
def a_replayed_join_is_refused(pair: Pair) -> None:
    """The same bytes again, by whom they were from and by another, while another invitation stands."""
    other = intruder(pair)
    line = pair.target.invite(name="other")
    code = line.rpartition(":")[2][:9]
    join = GLib.Variant("(sa{sv})", (code, {"machine": GLib.Variant("s", "x"), "host-nqns": GLib.Variant("as", [])}))
    link = RawLink(pair.target, identity(other))
    link.greet()
    link.hello()
    assert link.call("Join", join).get_message_type() == Gio.DBusMessageType.METHOD_RETURN
    assert set(pair.target.peers()) == {"host-a", "other"}
    pair.target.invite()
    third = pair.another("third")
    third.start()
    for machine, error in ((other, "PeerExists"), (third, "InvitationInvalid")):
        link = RawLink(pair.target, identity(machine))
        link.greet()
        link.hello()
        answer = link.call("Join", join)
        assert answer.get_error_name() == f"org.ntprof1.Error.{error}", answer.print_(0)
        link.close()
    assert set(pair.target.peers()) == {"host-a", "other"}


@tap.case
def claims_grant_nothing(pair: Pair) -> None:
    other = intruder(pair)
    code = pair.target.invite().rpartition(":")[2][:9]
    nqns = ["nqn.2014-08.org.nvmexpress:uuid:0b6bd2a5-2d2c-4c0c-9f4f-4a8d6f2f7a01", "no nqn", "nqn." + "x" * 300]
    link = RawLink(pair.target, identity(other))
    link.greet()
    link.hello()
    claims = {"machine": GLib.Variant("s", "../../x"), "host-nqns": GLib.Variant("as", nqns)}
    answer = link.call("Join", GLib.Variant("(sa{sv})", (code, claims)))
    its = answer.get_body().unpack()[0]
    peer = pair.target.peers()[its["name"]]
    assert its["confirmed"] is False and peer["HostNqns"] == [] and peer["Allow"] == "none" and peer["ClaimedHostNqns"] == nqns[:1], peer
    assert its["name"] == "x", its


# ---- messages of a peer

@tap.case
def what_a_peer_may_not_send_closes_its_link(pair: Pair) -> None:
    """And nothing else of it, nor of others."""
    def pinned() -> RawLink:
        link = RawLink(pair.target, identity(pair.host))
        link.greet()
        link.hello()
        return link

    link = pinned()
    body = link.message("Data", GLib.Variant("(tay)", (0, b"x" * 100)))
    cases = {
        "no D-Bus": b"GET / HTTP/1.1\r\n\r\n" * 10,
        "another byte order": b"B" + body[1:],
        "another version": body[:3] + b"\x02" + body[4:],
        "a body of 4 GiB": body[:4] + b"\xff\xff\xff\xff" + body[8:],
        "fields of 4 GiB": body[:12] + b"\xff\xff\xff\xff" + body[16:],
        "a body that is too long": body[:4] + MESSAGE_MAX.to_bytes(4, "little") + body[8:],
        "another object": link.message("Data", GLib.Variant("(tay)", (0, b"x")), path="/org/ntprof1"),
        "another interface": link.message("Ping", None, interface="org.freedesktop.DBus.Peer"),
        "another method": link.message("Reboot"),
        "other arguments": link.message("Data", GLib.Variant("(s)", ("x",))),
        "a stream that is not there": link.message("Data", GLib.Variant("(tay)", (77, b"x"))),
    }
    link.close()
    before = n_files(pair.target)
    for what, data in cases.items():
        link = pinned()
        link.send(data)
        if what == "a stream that is not there":
            answer = link.answer()
            while answer.get_message_type() == Gio.DBusMessageType.METHOD_CALL:
                answer = link.answer()
            assert answer.get_message_type() == Gio.DBusMessageType.ERROR, what
            link.close()
        else:
            link.wait_closed()
        assert pair.target.peerd and pair.target.peerd.poll() is None, what
    still_works(pair)
    if not is_sanitized(pair.target):
        assert rss_bytes(pair.target) < 128 << 20, rss_bytes(pair.target)
    wait_until(lambda: n_files(pair.target) <= before + 3, "the links to be gone", 30)


@tap.case
def no_version_in_common(pair: Pair) -> None:
    link = RawLink(pair.target, identity(pair.host))
    link.greet()
    answer = link.hello(90, 91)
    assert answer.get_error_name() == "org.ntprof1.Error.PeerVersion", answer.print_(0)
    message = answer.get_body().unpack()[0]
    assert "90" in message and "1" in message, message
    link.close()
    still_works(pair)


# ---- many

@tap.case
def a_thousand_that_never_speak(pair: Pair) -> None:
    """They keep nobody out: a paired machine connects within two seconds, throughout."""
    before = n_threads(pair.target)
    crowd: list[socket.socket] = []
    slowest = 0.0
    try:
        for n in range(SILENT):
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", pair.target.port))
            crowd.append(one)
            if n % 250 == 249:
                pair.host.restart()     # a new link
                begun = time.monotonic()
                pair.host.test("stor-a")
                slowest = max(slowest, time.monotonic() - begun)
        assert n_threads(pair.target) <= before + 10, n_threads(pair.target)
        assert n_files(pair.target) < 400, n_files(pair.target)
        assert slowest < 2, slowest
        print(f"# slowest {slowest:.2f} s")
    finally:
        for one in crowd:
            one.close()
    wait_until(lambda: n_files(pair.target) < 40, "the sockets to be closed", 30)


@tap.case
def many_that_begin_a_handshake_and_stop(pair: Pair) -> None:
    """The first bytes of a ClientHello, or all of it and then nothing: at most eight threads, and a paired machine gets through."""
    outgoing, incoming = ssl.MemoryBIO(), ssl.MemoryBIO()
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    try:
        made.wrap_bio(incoming, outgoing).do_handshake()
    except ssl.SSLWantReadError:
        pass
    hello = outgoing.read()
    assert hello[0] == 22, hello[:5]
    before, crowd, slowest = n_threads(pair.target), [], 0.0
    try:
        for n in range(200):
            one = socket.create_connection(("127.0.0.1", pair.target.port), 30)
            one.sendall(hello if n % 2 else hello[:20])
            crowd.append(one)
            if n % 50 == 49:
                pair.host.restart()
                begun = time.monotonic()
                pair.host.test("stor-a")
                slowest = max(slowest, time.monotonic() - begun)
        assert n_threads(pair.target) <= before + 12, n_threads(pair.target)
        assert slowest < 2, slowest
        print(f"# slowest {slowest:.2f} s")
    finally:
        for one in crowd:
            one.close()
    still_works(pair)


@tap.case
def many_that_begin_to_greet_and_stop(pair: Pair) -> None:
    """Of a paired machine's certificate, over TLS: at each step of D-Bus' authentication, and before Hello."""
    other = intruder(pair)
    other.join(pair.target.invite(name="other"), name="stor-a")
    crowd: list[RawLink] = []

    def come() -> None:
        for _ in range(10):
            with contextlib.suppress(Closed):
                crowd.append(RawLink(pair.target, identity(other)))

    threads = [threading.Thread(target=come) for _ in range(6)]
    slowest = 0.0
    try:
        for thread in threads:
            thread.start()
        for said in (b"", b"\0", b"AUTH ANONYMOUS\r\n", b"BEGIN\r\n"):
            for link in crowd[:]:
                with contextlib.suppress(Closed):
                    link.send(said)
            pair.host.restart()
            begun = time.monotonic()
            pair.host.test("stor-a")
            slowest = max(slowest, time.monotonic() - begun)
        print(f"# slowest {slowest:.2f} s")
        assert len(crowd) > 8 and slowest < 2, (len(crowd), slowest)
    finally:
        for thread in threads:
            thread.join()
        for link in crowd:
            link.close()
    still_works(pair)


tap.main(paired)
