# SPDX-License-Identifier: GPL-2.0-or-later
"""What ntprofd sees of other machines, played by a test: ntprof-peerd on the bus, the target's half of daemon/peer/wire.h."""

from __future__ import annotations

import dataclasses
import json
import socket
import struct
from collections.abc import Callable

from gi.repository import Gio, GLib

import make_replay
from service import Service, spin

NAME, PATH, INTERFACE = "org.ntprof1.Peers", "/org/ntprof1/internal", "org.ntprof1.internal.Links"
THRESHOLD, RESUME, PAUSE = 1, 2, 3
FACTS, CHANGED, RECORDS, SYNC, ENDED = 16, 17, 18, 19, 20
HEADER = struct.Struct("<2I")
RECORD_SIZE = make_replay.HEADER.size + make_replay.TARGET.size
FRAME_MAX = 64 << 10

POLICY = """<policy context="default">
  <allow own="org.ntprof1"/> <allow send_destination="org.ntprof1"/>
  <allow own="org.ntprof1.Peers"/> <allow send_destination="org.ntprof1.Peers"/>
</policy>"""

XML = """<node><interface name="org.ntprof1.internal.Links">
  <method name="FindPeer"><arg name="where" type="a{sv}" direction="in"/><arg name="name" type="s" direction="out"/></method>
  <method name="OpenTarget"><arg name="peer" type="s" direction="in"/><arg name="request" type="a{sv}" direction="in"/>
    <arg name="stream" type="h" direction="out"/></method>
</interface></node>"""


def frame(kind: int, data: bytes = b"") -> bytes:
    return HEADER.pack(kind, len(data)) + data


class Target:
    """The target's end of one stream. It says nothing by itself; what the host says is in heard."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self.heard: list[tuple[int, bytes]] = []
        self.closed = False
        self._got = b""
        self._watch = GLib.io_add_watch(sock.fileno(), GLib.PRIORITY_DEFAULT, GLib.IOCondition.IN | GLib.IOCondition.HUP,
                                        self._on_readable)

    def _on_readable(self, _fd: int, _condition: GLib.IOCondition) -> bool:
        try:
            data = self.socket.recv(65536)
        except ConnectionError:         # closed by the host with something unread: an end as any other
            data = b""
        if not data:
            self.closed = True
            return False
        self._got += data
        while len(self._got) >= HEADER.size:
            kind, size = HEADER.unpack_from(self._got)
            if len(self._got) < HEADER.size + size:
                break
            self.heard.append((kind, self._got[HEADER.size:HEADER.size + size]))
            self._got = self._got[HEADER.size + size:]
        return True

    def close(self) -> None:
        if not self.closed:
            GLib.source_remove(self._watch)
            self.closed = True
        self.socket.close()

    def send(self, data: bytes) -> None:
        """As a whole; ntprofd reads meanwhile."""
        self.socket.sendall(data)

    def said(self, kind: int) -> bool:
        return any(k == kind for k, _ in self.heard)

    def wait(self, kind: int) -> bytes:
        spin(lambda: self.said(kind) or self.closed, f"the host to say {kind}")
        assert self.said(kind), f"the host closed and did not say {kind}"
        return next(d for k, d in self.heard if k == kind)

    def wait_closed(self) -> None:
        spin(lambda: self.closed, "the host to close the stream")

    def facts(self, **changes: object) -> None:
        facts = {"machine": "stor-a.example", "kernel": "6.12.1-target", "version": "0.1.0",
                 "hooks": [{"boundary": "T1", "mechanism": "tp_btf", "symbol": "nvmet_req_init"},
                           {"boundary": "T9", "mechanism": "fexit", "symbol": "nvmet_tcp_try_send_response"}]}
        self.send(frame(FACTS, json.dumps({**facts, **changes}).encode()))

    def changed(self, target_ns: int = 0, threshold: int = make_replay.ALL) -> None:
        self.send(frame(CHANGED, struct.pack("<Q2I", target_ns, threshold, 0)))

    def records(self, records: list[bytes]) -> None:
        each = FRAME_MAX // RECORD_SIZE
        for i in range(0, len(records), each):
            self.send(frame(RECORDS, b"".join(records[i:i + each])))

    def sync(self, target_ns: int, recursion: int = 0, link_full: int = 0, counters: dict[int, int] | None = None) -> None:
        values = [(counters or {}).get(i, 0) for i in range(make_replay.N_COUNTERS)]
        self.send(frame(SYNC, struct.pack(f"<4Q{make_replay.N_COUNTERS}Q", target_ns, 0, recursion, link_full, *values)))

    def ended(self, error: str | None = None, message: str | None = None) -> None:
        self.send(frame(ENDED, json.dumps({"error": error, "message": message}).encode()))

    def begin(self, **facts: object) -> None:
        """As a target that attaches at once, and samples as it is told to."""
        self.facts(**facts)
        self.wait(RESUME)
        self.changed(0, struct.unpack("<2I", self.wait(THRESHOLD))[0])


class Peerd:
    """Owns the name; find and open say what is answered: a value, or an error's name and message."""

    def __init__(self, service: Service) -> None:
        self.connection = service.client().connection
        self.find: Callable[[dict], str] = lambda where: "stor-a"
        self.open: Callable[[str, dict], None] = lambda peer, request: None
        self.asked: list[dict] = []
        self.opened: list[tuple[str, dict]] = []
        self.targets: list[Target] = []
        info = Gio.DBusNodeInfo.new_for_xml(XML).interfaces[0]
        self.connection.register_object(PATH, info, self._on_call, None, None)
        self.connection.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
                                  GLib.Variant("(su)", (NAME, 0)), None, Gio.DBusCallFlags.NONE, -1, None)

    def _on_call(self, _c, _sender, _path, _interface, method, arguments, invocation) -> None:
        try:
            if method == "FindPeer":
                (where,) = arguments.unpack()
                self.asked.append(where)
                name = self.find(where)
                if name is not None:
                    invocation.return_value(GLib.Variant("(s)", (name,)))
            else:
                self._open(*arguments.unpack(), invocation)
        except Refusal as refusal:
            invocation.return_dbus_error(refusal.name, refusal.message)

    def _open(self, peer: str, request: dict, invocation: Gio.DBusMethodInvocation) -> None:
        self.opened.append((peer, request))
        if self.open(peer, request) == "never":
            return
        ours, theirs = socket.socketpair()
        fds = Gio.UnixFDList.new()
        fds.append(theirs.fileno())
        theirs.close()
        self.targets.append(Target(ours))
        invocation.return_value_with_unix_fd_list(GLib.Variant("(h)", (0,)), fds)

    def target(self, index: int = 0) -> Target:
        spin(lambda: len(self.targets) > index, f"ntprofd to open stream {index}")
        return self.targets[index]

    def close(self) -> None:
        for target in self.targets:
            target.close()


class Refusal(Exception):
    """What a method of ntprof-peerd answers instead."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = f"org.ntprof1.Error.{name}" if "." not in name else name
        self.message = message


def refuse(name: str, message: str) -> Callable:
    def answer(*_arguments: object) -> str:
        raise Refusal(name, message)
    return answer


def target_records(commands: list[make_replay.Command], offset: int) -> list[bytes]:
    """Of a target whose clock is ahead by offset ns."""
    return [dataclasses.replace(c, submitted=c.submitted + offset).target_record() for c in commands if c.target_recorded]
