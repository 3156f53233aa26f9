#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The peers of libntprof by GObject introspection, against a mock of ntprof-peerd."""

import gi

gi.require_version("Ntprof", "1")
from gi.repository import GLib, Ntprof  # noqa: E402

import tap  # noqa: E402
from ctl import bus_only  # noqa: E402
from mock_peers import FINGERPRINT, HOST_NQN, LINE, SUBSYSTEMS  # noqa: E402
from peers import Mocked, mocked  # noqa: E402
from service import Steps, spin  # noqa: E402


def options(**given: object) -> GLib.Variant:
    return GLib.Variant("a{sv}", {k.replace("_", "-"): GLib.Variant("t" if isinstance(v, int) else "s", v) for k, v in given.items()})


def fails(code: Ntprof.Error, call) -> str:
    try:
        call()
    except GLib.Error as error:
        assert error.matches(Ntprof.error_quark(), code), error
        return error.message
    raise AssertionError("no error")


@tap.case
def this_machine(mock: Mocked) -> None:
    peers = Ntprof.Peers.new_sync(mock.address, None)
    assert peers.get_fingerprint() == peers.props.fingerprint == FINGERPRINT
    assert peers.get_certificate().startswith("-----BEGIN CERTIFICATE") and peers.get_version() == "0.1.0"
    assert peers.get_listening() == peers.props.listening == ["[::]:4425"]
    other = Ntprof.Peers.new_for_connection_sync(peers.get_connection(), None)
    assert other.get_fingerprint() == FINGERPRINT


@tap.case
def peers_have_properties(mock: Mocked) -> None:
    peers = Ntprof.Peers.new_sync(mock.address, None)
    assert [p.get_name() for p in peers.list()] == ["host-a", "host-b", "stor-a"]
    peer = peers.find("stor-a")
    assert peer.get_fingerprint() == "sha256-" + "cd" * 32 and peer.get_address() == "10.0.0.2:4425"
    assert peer.get_origin() == "paired" and peer.get_allow() == "none"
    assert peer.get_claimed_host_nqns() == peer.get_host_nqns() == [] and peer.get_subsystems() == SUBSYSTEMS
    assert peer.get_connected() and peer.get_streams() == 1 and peer.get_last_seen_usec() == 1_700_000_000_000_000
    assert not peer.get_gone() and peer.get_object_path() == "/org/ntprof1/peer/stor_2da"
    for pspec in peer.list_properties():
        assert peer.get_property(pspec.name) == getattr(peer, "get_" + pspec.name.replace("-", "_"))(), pspec.name
    assert peer.get_max_sample_rate() == "all" and peer.get_max_session_usec() == 0
    limited = peers.find("host-b")
    assert limited.get_max_sample_rate() == "1/16" and limited.get_max_session_usec() == 3_600_000_000
    assert peers.find("host-a").get_claimed_host_nqns() == [HOST_NQN]
    assert "host-x" in fails(Ntprof.Error.NO_PEER, lambda: peers.find("host-x"))


@tap.case
def a_peer_is_asked(mock: Mocked) -> None:
    peers = Ntprof.Peers.new_sync(mock.address, None)
    answer = peers.find("stor-a").test_sync(None)
    assert answer.get_round_trip_usec() == 420 and answer.get_software() == "ntprof 0.1.0" and answer.get_machine() == "stor-a"
    assert answer.get_protocol() == 1 and answer.get_subsystems() == SUBSYSTEMS
    assert answer.copy().get_subsystems() == SUBSYSTEMS
    assert "host-a: no address" in fails(Ntprof.Error.PEER_UNREACHABLE, lambda: peers.find("host-a").test_sync(None))


@tap.case
def invitations_are_made_and_accepted(mock: Mocked) -> None:
    peers = Ntprof.Peers.new_sync(mock.address, None)
    line, expires = peers.invite_sync(None, None)
    assert line == LINE and 0 < expires - GLib.get_real_time() <= 600_000_000
    line, expires = peers.invite_sync(options(expires_usec=60_000_000, name="host-c"), None)
    assert line == LINE and 0 < expires - GLib.get_real_time() <= 60_000_000
    assert mock.calls() == [["Invite", {}], ["Invite", {"expires-usec": 60_000_000, "name": "host-c"}]], mock.calls()
    assert "stor-a" in fails(Ntprof.Error.PEER_EXISTS, lambda: peers.invite_sync(options(name="stor-a"), None))

    added: list = []
    peers.connect("peer-added", lambda _p, peer: added.append(peer))
    peer, confirmed, name_there = peers.join_sync("ntprof:known", options(name="stor-q"), None)
    assert peer.get_name() == "stor-q" and confirmed and name_there == "host-q"
    assert peer in peers.list() and peers.find("stor-q") == peer
    spin(lambda: added == [peer], "the addition")
    _, confirmed, name_there = peers.join_sync("ntprof:nameless", None, None)
    assert not confirmed and name_there == ""
    assert "mistyped" in fails(Ntprof.Error.INVITATION_INVALID, lambda: peers.join_sync("x", None, None))


@tap.case
def peers_are_forgotten(mock: Mocked) -> None:
    peers = Ntprof.Peers.new_sync(mock.address, None)
    removed: list = []
    peers.connect("peer-removed", lambda _p, peer: removed.append(peer))
    peer = peers.find("host-a")
    assert peer.forget_sync(None) == (True, False)
    spin(lambda: removed == [peer], "the removal")
    assert peer.get_gone() and peer.get_name() == "host-a" and peer not in peers.list()
    assert "peer host-a: no such peer" in fails(Ntprof.Error.NO_PEER, lambda: peer.test_sync(None))
    assert "host-b.conf" in fails(Ntprof.Error.ACCESS_DENIED, lambda: peers.find("host-b").forget_sync(None))
    assert peers.find("stor-a").forget_sync(None) == (True, True)       # it is connected, and so is told


@tap.case
def a_new_key_is_told_to_all(mock: Mocked) -> None:
    peers = Ntprof.Peers.new_sync(mock.address, None)
    assert dict(peers.renew_sync(None).unpack()) == {"stor-a": "", "host-a": "it does not answer: pair it again"}


@tap.case
def without_blocking(mock: Mocked) -> None:
    steps = Steps()
    step, wait, results = steps.take, steps.wait, steps.results

    Ntprof.Peers.new(mock.address, None, step, Ntprof.Peers.new_finish)
    peers = wait(1)
    assert isinstance(peers, Ntprof.Peers), peers
    peers.invite(None, None, step, peers.invite_finish)
    assert wait(2)[0] == LINE
    peers.join("ntprof:known", None, None, step, peers.join_finish)
    peer, confirmed, name_there = wait(3)
    assert confirmed and name_there == "host-q" and peer.get_name() == "stor-z", peer
    peer.test(None, step, peer.test_finish)
    assert wait(4).matches(Ntprof.error_quark(), Ntprof.Error.PEER_UNREACHABLE), results
    peers.find("stor-a").test(None, step, peers.find("stor-a").test_finish)
    assert wait(5).get_protocol() == 1
    peers.renew(None, step, peers.renew_finish)
    assert len(wait(6).unpack()) == 2
    peer.forget(None, step, peer.forget_finish)
    assert wait(7) == (True, False)
    peers.join("", None, None, step, peers.join_finish)
    assert wait(8).matches(Ntprof.error_quark(), Ntprof.Error.INVITATION_INVALID), results
    Ntprof.Peers.new_for_connection(peers.get_connection(), None, step, Ntprof.Peers.new_for_connection_finish)
    assert isinstance(wait(9), Ntprof.Peers)


@tap.case
def the_daemon_leaves(mock: Mocked) -> None:
    peers = Ntprof.Peers.new_sync(mock.address, None)
    peer = peers.find("stor-a")
    mock.stop()
    spin(lambda: peer.get_gone() and peers.get_fingerprint() is None, "the peers and the daemon to be gone")
    assert peers.list() == []
    assert peer.get_subsystems() == SUBSYSTEMS
    fails(Ntprof.Error.SERVICE_GONE, lambda: peer.test_sync(None))
    assert "ntprof-peerd" in fails(Ntprof.Error.NO_SERVICE, lambda: peers.invite_sync(None, None))

    # It ends by itself when nobody needs it: when it is back, so are they.
    added: list = []
    peers.connect("peer-added", lambda _p, peer: added.append(peer.get_name()))
    mock.start()
    spin(lambda: len(added) == 3 and peers.get_fingerprint() == FINGERPRINT, "the peers to be back")
    assert peers.find("stor-a") != peer and peers.find("stor-a").test_sync(None).get_protocol() == 1


@tap.case
def there_is_no_daemon(_mock: Mocked) -> None:
    with bus_only() as service:
        message = fails(Ntprof.Error.NO_SERVICE, lambda: Ntprof.Peers.new_sync(service.address, None))
        assert "ntprof-peerd isn't on the bus" in message and "installed" in message, message
    fails(Ntprof.Error.NO_SERVICE, lambda: Ntprof.Peers.new_sync("unix:path=/nonexistent", None))


tap.main(mocked)
