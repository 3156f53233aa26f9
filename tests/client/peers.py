# SPDX-License-Identifier: GPL-2.0-or-later
"""A private bus with org.ntprof1.Peers by mock_peers.py."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import mock_peers
from service import Service, private_bus, wait_until

POLICY = """<policy context="default"> <allow own="org.ntprof1.Peers"/> <allow send_destination="org.ntprof1.Peers"/> </policy>"""


class Mocked:
    """The bus, and what the mock was called with."""

    def __init__(self, service: Service, listening: str) -> None:
        self.service, self.address, self.folder = service, service.address, service.folder
        self.log, self.listening = service.folder / "calls", listening
        self.start()

    def start(self) -> None:
        with self.log.open("w") as output:
            self.process = subprocess.Popen([sys.executable, mock_peers.__file__, self.address], stdout=output,
                                            env={**os.environ, "MOCK_LISTENING": self.listening})
        bus = self.service.client().connection
        wait_until(lambda: self.owned(bus), "the mock to own its name")

    def owned(self, bus) -> bool:
        assert self.process.poll() is None, "the mock ended"
        from gi.repository import Gio, GLib
        return bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner",
                             GLib.Variant("(s)", (mock_peers.NAME,)), None, Gio.DBusCallFlags.NONE, -1, None).unpack()[0]

    def calls(self) -> list[list]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def peers_dir(self) -> Path:
        return self.folder / "peers.d"

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def mocked(listening: str = "[::]:4425") -> Iterator[Mocked]:
    with private_bus(POLICY) as service:
        mock = Mocked(service, listening)
        try:
            yield mock
        finally:
            mock.stop()
