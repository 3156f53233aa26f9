#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""org.ntprof1.Peers without a network, to test its clients: mock_peers.py BUS_ADDRESS. The peers below; each call of a method
is written to standard output as a line of JSON, [method, arguments]."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

NAME, ROOT = "org.ntprof1.Peers", "/org/ntprof1"
MANAGER, PEER, OBJECT_MANAGER = "org.ntprof1.PeerManager", "org.ntprof1.Peer", "org.freedesktop.DBus.ObjectManager"
XML = Path(__file__).resolve().parents[2] / "dbus"
FINGERPRINT = "sha256-" + "ab" * 32
LINE = f"ntprof:10.0.0.2:4425:{FINGERPRINT}:7Q2K-9XMD-4HTZ"
HOST_NQN = "nqn.2014-08.org.nvmexpress:uuid:0f01fb42-9f7f-4856-b0b3-51e60b8de349"
SUBSYSTEMS = ["nqn.2026-01.org.ntprof:a", "nqn.2026-01.org.ntprof:b", "nqn.2026-01.org.ntprof:c"]

OBJECT_MANAGER_XML = f"""<node><interface name="{OBJECT_MANAGER}">
  <method name="GetManagedObjects"><arg name="objects" type="a{{oa{{sa{{sv}}}}}}" direction="out"/></method>
  <signal name="InterfacesAdded"><arg type="o"/><arg type="a{{sa{{sv}}}}"/></signal>
  <signal name="InterfacesRemoved"><arg type="o"/><arg type="as"/></signal>
</interface></node>"""


def interface(name: str) -> Gio.DBusInterfaceInfo:
    return Gio.DBusNodeInfo.new_for_xml((XML / f"{name}.xml").read_text()).lookup_interface(name)



class Refused(Exception):
    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class Exported:
    """An object with one interface: methods by their names in lower case, properties as a dictionary."""

    def __init__(self, peers: Peers, path: str, info: Gio.DBusInterfaceInfo, properties: dict[str, object]) -> None:
        self.peers, self.path, self.info, self.properties = peers, path, info, properties
        self.types = {p.name: p.signature for p in info.properties}
        self.id = peers.bus.register_object(path, info, self.call, lambda *a: self.variant(a[4]), None)

    def variant(self, name: str) -> GLib.Variant:
        return GLib.Variant(self.types[name], self.properties[name])

    def variants(self) -> dict[str, dict[str, GLib.Variant]]:
        return {self.info.name: {name: self.variant(name) for name in self.properties}}

    def call(self, _bus, _sender, _path, _interface, method, arguments, invocation) -> None:
        given = arguments.unpack()
        if method != "GetManagedObjects":
            print(json.dumps([method, *given]), flush=True)
        try:
            answer = getattr(self, method.lower())(*given)
        except Refused as why:
            invocation.return_dbus_error(f"org.ntprof1.Error.{why.name}", str(why))
            return
        invocation.return_value(answer)


class Peer(Exported):
    def test(self) -> GLib.Variant:
        if self.properties["Name"] != "stor-a":
            raise Refused("PeerUnreachable", f"{self.properties['Name']}: no address to connect to, and it has not connected")
        return GLib.Variant("(a{sv})", ({
            "round-trip-usec": GLib.Variant("t", 420), "software": GLib.Variant("s", "ntprof 0.1.0"),
            "machine": GLib.Variant("s", "stor-a"), "protocol": GLib.Variant("u", 1),
            "subsystems": GLib.Variant("as", SUBSYSTEMS)},))

    def forget(self) -> GLib.Variant:
        if self.properties["Origin"] != "paired":
            raise Refused("AccessDenied", "/etc/ntprof/peers.d/host-b.conf fixes host-b: remove the file")
        self.peers.remove(self)
        return GLib.Variant("(b)", (self.properties["Connected"],))


class Peers(Exported):
    def __init__(self, bus: Gio.DBusConnection) -> None:
        self.bus = bus
        self.known: dict[str, Peer] = {}
        super().__init__(self, ROOT, interface(MANAGER), {
            "Fingerprint": FINGERPRINT, "Certificate": "-----BEGIN CERTIFICATE-----\n", "Version": "0.1.0",
            "Listening": os.environ.get("MOCK_LISTENING", "[::]:4425").split()})
        info = Gio.DBusNodeInfo.new_for_xml(OBJECT_MANAGER_XML).lookup_interface(OBJECT_MANAGER)
        bus.register_object(ROOT, info, self.call, None, None)
        self.add(Name="stor-a", Address="10.0.0.2:4425", Subsystems=SUBSYSTEMS, Connected=True, Streams=1,
                 LastSeenUSec=1_700_000_000_000_000)
        self.add(Name="host-a", ClaimedHostNqns=[HOST_NQN])
        self.add(Name="host-b", Origin="configured", HostNqns=["nqn.2026-01.org.example:b"], Allow="observe",
                 MaxSampleRate="1/16", MaxSessionUSec=3_600_000_000)

    def add(self, **properties: object) -> Peer:
        given = {"Fingerprint": "sha256-" + "cd" * 32, "Address": "", "Origin": "paired", "ClaimedHostNqns": [], "HostNqns": [],
                 "Allow": "none", "MaxSampleRate": "all", "MaxSessionUSec": 0, "Subsystems": [], "Connected": False,
                 "Streams": 0, "LastSeenUSec": 0, **properties}
        path = f"{ROOT}/peer/" + str(given["Name"]).replace("-", "_2d")
        peer = self.known[path] = Peer(self, path, interface(PEER), given)
        self.bus.emit_signal(None, ROOT, OBJECT_MANAGER, "InterfacesAdded", GLib.Variant("(oa{sa{sv}})", (path, peer.variants())))
        return peer

    def remove(self, peer: Peer) -> None:
        del self.known[peer.path]
        self.bus.unregister_object(peer.id)
        self.bus.emit_signal(None, ROOT, OBJECT_MANAGER, "InterfacesRemoved", GLib.Variant("(oas)", (peer.path, [PEER])))

    def getmanagedobjects(self) -> GLib.Variant:
        return GLib.Variant("(a{oa{sa{sv}}})", ({path: peer.variants() for path, peer in self.known.items()},))

    def invite(self, options: dict[str, object]) -> GLib.Variant:
        if options.get("name") in ("stor-a", "host-b"):
            raise Refused("PeerExists", f"{options['name']}: a peer is called so already")
        return GLib.Variant("(st)", (LINE, GLib.get_real_time() + options.get("expires-usec", 600_000_000)))

    def join(self, line: str, options: dict[str, object]) -> GLib.Variant:
        if not line.startswith("ntprof:"):
            raise Refused("InvitationInvalid", "the line is mistyped: it begins with ntprof:")
        known = "known" in line     # what the other machine exports is known, and its administrator has confirmed this one
        peer = self.add(Name=options.get("name", "stor-z"), Address="10.0.0.9:4425", Subsystems=SUBSYSTEMS if known else [])
        return GLib.Variant("(obs)", (peer.path, known, "" if "nameless" in line else "host-q"))

    def renew(self) -> GLib.Variant:
        return GLib.Variant("(a(ss))", ([("host-a", "it does not answer: pair it again"), ("stor-a", "")],))


def main() -> None:
    flags = Gio.DBusConnectionFlags
    bus = Gio.DBusConnection.new_for_address_sync(
        sys.argv[1], flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, None, None)
    _peers = Peers(bus)
    Gio.bus_own_name_on_connection(bus, NAME, Gio.BusNameOwnerFlags.NONE, None, None)
    GLib.MainLoop().run()


if __name__ == "__main__":
    main()
