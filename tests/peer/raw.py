# SPDX-License-Identifier: GPL-2.0-or-later
"""Another machine's end of a link that says what it likes: TLS by Python, D-Bus messages by hand."""

from __future__ import annotations

import socket
import ssl
import warnings
from pathlib import Path

from machines import Machine
from gi.repository import Gio, GLib

OBJECT, INTERFACE = "/org/ntprof1/peer", "org.ntprof1.internal.Peer"
PATIENCE = 30.0     # s


def context(identity: Path | None, version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")     # old versions are what some tests are about
        made.minimum_version = made.maximum_version = version
    if identity:
        made.load_cert_chain(identity)
    return made


class Closed(Exception):
    """The other side closed; the text says how."""


class RawLink:
    """identity: the file of a machine that this one pretends to be; None: of nobody."""

    def __init__(self, target: Machine, identity: Path | None, version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3) -> None:
        plain = socket.create_connection(("127.0.0.1", target.port), PATIENCE)
        try:
            self.tls = context(identity, version).wrap_socket(plain)
        except OSError as error:
            plain.close()
            raise Closed(str(error)) from error
        self.serial = 0

    def close(self) -> None:
        self.tls.close()

    def send(self, data: bytes) -> None:
        try:
            self.tls.sendall(data)
        except OSError as error:
            raise Closed(str(error)) from error

    def receive(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            try:
                part = self.tls.recv(size - len(data))
            except TimeoutError as error:
                raise AssertionError("the other side neither answered nor closed") from error
            except OSError as error:
                raise Closed(str(error)) from error
            if not part:
                raise Closed("end")
            data += part
        return data

    def line(self) -> bytes:
        data = b""
        while not data.endswith(b"\r\n"):
            data += self.receive(1)
        return data

    def greet(self) -> None:
        """The beginning of D-Bus."""
        self.send(b"\0AUTH ANONYMOUS\r\n")
        if not self.line().startswith(b"OK"):
            raise Closed("not OK")
        self.send(b"BEGIN\r\n")

    def message(self, member: str, arguments: GLib.Variant | None = None, path: str = OBJECT, interface: str = INTERFACE) -> bytes:
        message = Gio.DBusMessage.new_method_call(None, path, interface, member)
        if arguments:
            message.set_body(arguments)
        self.serial += 1
        message.set_serial(self.serial)
        message.set_byte_order(Gio.DBusMessageByteOrder.LITTLE_ENDIAN)
        return bytes(message.to_blob(Gio.DBusCapabilityFlags.NONE))

    def answer(self) -> Gio.DBusMessage:
        """The next message: of the other side's calls, too."""
        head = self.receive(16)
        body = int.from_bytes(head[4:8], "little")
        fields = int.from_bytes(head[12:16], "little")
        rest = self.receive((fields + 7) // 8 * 8 + body)
        return Gio.DBusMessage.new_from_blob(head + rest, Gio.DBusCapabilityFlags.NONE)

    def call(self, member: str, arguments: GLib.Variant | None = None) -> Gio.DBusMessage:
        self.send(self.message(member, arguments))
        while True:
            answer = self.answer()
            if answer.get_message_type() != Gio.DBusMessageType.METHOD_CALL and answer.get_reply_serial() == self.serial:
                return answer

    def hello(self, minimum: int = 1, maximum: int = 1, **facts: GLib.Variant) -> Gio.DBusMessage:
        given = {"software": GLib.Variant("s", "ntprof 0.1.0"), "machine": GLib.Variant("s", "raw"), "subsystems": GLib.Variant("as", []),
                 **facts}
        return self.call("Hello", GLib.Variant("(uua{sv})", (minimum, maximum, given)))

    def wait_closed(self) -> None:
        """Whatever it still sends; it must end."""
        try:
            while True:
                self.receive(1)
        except Closed:
            pass
