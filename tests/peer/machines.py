# SPDX-License-Identifier: GPL-2.0-or-later
"""Two machines in one: each has a bus, a real ntprof-peerd and, when a test wants it, a real ntprofd; the loopback is their network."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bus"))

import make_replay  # noqa: E402
from service import PATIENCE, PROPERTIES, ROOT, Service, errors_of, wait_until  # noqa: E402, F401
from gi.repository import Gio, GLib  # noqa: E402

PEERD = os.environ.get("NTPROF_PEERD", "build/peerd/ntprof-peerd")
NAME, MANAGER, PEER = "org.ntprof1.Peers", "org.ntprof1.PeerManager", "org.ntprof1.Peer"
INTERNAL, LINKS = "/org/ntprof1/internal", "org.ntprof1.internal.Links"
OBJECT_MANAGER = "org.freedesktop.DBus.ObjectManager"

# Any user may call anything: what is refused then, the daemons refuse.
OPEN_POLICY = """<policy context="default"> <allow own="org.ntprof1"/> <allow send_destination="org.ntprof1"/>
  <allow own="org.ntprof1.Peers"/> <allow send_destination="org.ntprof1.Peers"/> </policy>"""
WRONG_CODE = "AAAA-AAAA"


def peer_path(name: str) -> str:
    return f"{ROOT}/peer/" + "".join(c if c.isalnum() else f"_{ord(c):02x}" for c in name)


class Machine:
    """One of them. state: ntprof-peerd's folder; peers: in place of /etc/ntprof/peers.d."""

    def __init__(self, folder: Path, listens: bool, policy: str = OPEN_POLICY) -> None:
        self.folder, self.listens = folder, listens
        self.state, self.peers_dir = folder / "state", folder / "peers.d"
        folder.mkdir()
        self.peers_dir.mkdir()
        self.service = Service(folder, policy)
        self.client = self.service.client()
        self.peerd: subprocess.Popen | None = None
        self.port = 0           # kept, so that it is the same after a restart

    # ---- the daemon

    def argv(self, *more: str) -> list[str]:
        listen = ["--listen", f"127.0.0.1:{self.port}"] if self.listens else []
        return [PEERD, "--bus", self.service.address, "--state-dir", str(self.state), "--peers-dir", str(self.peers_dir), *listen, *more]

    def start(self, *more: str) -> None:
        with open(self.folder / "peerd.log", "a") as log:
            self.peerd = subprocess.Popen(self.argv(*more), stdout=subprocess.DEVNULL, stderr=log)
        def owned() -> bool:
            assert self.peerd
            if self.peerd.poll() is not None:
                raise AssertionError(f"ntprof-peerd ended: {self.text()}")
            return self.has_name()

        wait_until(owned, "ntprof-peerd to own its name")
        if self.listens and self.port == 0:
            self.port = int(self.get(ROOT, MANAGER, "Listening")[0].rpartition(":")[2])

    def start_ntprofd(self, recording: make_replay.Recording, speed: float = 4) -> None:
        self.service.start(recording, speed=speed, arguments=("--peers-dir", self.peers_dir))

    def text(self) -> str:
        """What ntprof-peerd wrote to its log."""
        log = self.folder / "peerd.log"
        return log.read_text() if log.exists() else ""

    def stop(self) -> None:
        """End it; it must do so cleanly."""
        assert self.peerd
        peerd, self.peerd = self.peerd, None
        peerd.send_signal(signal.SIGTERM)
        try:
            assert peerd.wait(PATIENCE) == 0, f"ntprof-peerd ended with {peerd.returncode}: {self.text()}"
        except subprocess.TimeoutExpired:
            peerd.kill()
            raise

    def kill(self) -> None:
        assert self.peerd
        peerd, self.peerd = self.peerd, None
        peerd.kill()
        peerd.wait()
        wait_until(lambda: not self.has_name(), "the bus to notice")

    def has_name(self) -> bool:
        return self.client.is_owned(NAME)

    def restart(self) -> None:
        self.stop()
        self.start()

    def close(self) -> None:
        try:
            if self.peerd:
                self.stop()
        finally:
            self.service.close()

    # ---- what it offers

    def call(self, path: str, interface: str, method: str, arguments: GLib.Variant | None = None) -> tuple:
        return self.client.connection.call_sync(NAME, path, interface, method, arguments, None, Gio.DBusCallFlags.NO_AUTO_START,
                                                int(PATIENCE * 1000), None).unpack()

    def get(self, path: str, interface: str, name: str) -> object:
        return self.call(path, PROPERTIES, "Get", GLib.Variant("(ss)", (interface, name)))[0]

    def fingerprint(self) -> str:
        return self.get(ROOT, MANAGER, "Fingerprint")

    def peers(self) -> dict[str, dict]:
        """By name: properties."""
        objects = self.call(ROOT, OBJECT_MANAGER, "GetManagedObjects")[0]
        found = {interfaces[PEER]["Name"]: interfaces[PEER] for interfaces in objects.values()}
        assert {peer_path(name) for name in found} == set(objects), objects
        return found

    def invite(self, **options: object) -> str:
        return self.invite_until(**options)[0]

    def invite_until(self, **options: object) -> tuple[str, int]:
        given = {key.replace("_", "-"): GLib.Variant("t" if isinstance(value, int) else "s", value) for key, value in options.items()}
        return self.call(ROOT, MANAGER, "Invite", GLib.Variant("(a{sv})", (given,)))

    def join(self, line: str, **options: str) -> tuple[str, bool]:
        """Object path of the new peer, and whether it is confirmed there."""
        return self.join_named(line, **options)[:2]

    def join_named(self, line: str, **options: str) -> tuple[str, bool, str]:
        """The same, and what this machine is called there."""
        given = {key: GLib.Variant("s", value) for key, value in options.items()}
        return self.call(ROOT, MANAGER, "Join", GLib.Variant("(sa{sv})", (line, given)))

    def renew(self) -> dict[str, str]:
        return dict(self.call(ROOT, MANAGER, "Renew")[0])

    def test(self, name: str) -> dict:
        return self.call(peer_path(name), PEER, "Test")[0]

    def forget(self, name: str) -> bool:
        """Whether the other side was told."""
        return self.call(peer_path(name), PEER, "Forget")[0]

    def find(self, **where: str) -> str:
        return self.call(INTERNAL, LINKS, "FindPeer", GLib.Variant("(a{sv})", ({k: GLib.Variant("s", v) for k, v in where.items()},)))[0]

    # ---- its files

    def configure(self, name: str, **keys: str) -> None:
        """As its administrator: a file of peers.d."""
        text = "".join(f"{key}={value}\n" for key, value in keys.items())
        path = self.peers_dir / f"{name}.conf"
        path.with_suffix(".new").write_text(f"[Peer]\n{text}")
        path.with_suffix(".new").rename(path)

    def pins(self) -> list[str]:
        return sorted(p.name for p in (self.state / "peers.d").glob("*"))

    def invitations(self) -> list[Path]:
        return sorted((self.state / "invitations").glob("*"))


class Pair:
    """A target that listens, and a host."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.target, self.host = Machine(folder / "target", True), Machine(folder / "host", False)
        self.more: list[Machine] = []

    def start(self) -> None:
        self.target.start()
        self.host.start()

    def pair(self) -> None:
        """They know each other as stor-a and host-a."""
        self.host.join(self.target.invite(name="host-a"), name="stor-a")

    def another(self, name: str, listens: bool = False, policy: str = OPEN_POLICY) -> Machine:
        machine = Machine(self.folder / name, listens, policy)
        self.more.append(machine)
        return machine

    def close(self) -> None:
        with contextlib.ExitStack() as stack:
            for machine in (self.target, self.host, *self.more):
                stack.callback(machine.close)


@contextlib.contextmanager
def strangers(start: bool = True) -> Iterator[Pair]:
    """Both run (or will), and know nothing of each other. What they were asked for, and by whom, must leave no defect in their logs."""
    with tempfile.TemporaryDirectory(prefix="ntprof-") as folder:
        pair = Pair(Path(folder))
        try:
            if start:
                pair.start()
            yield pair
        except BaseException:
            for machine in (pair.target, pair.host, *pair.more):
                for line in machine.text().splitlines()[-20:]:
                    print(f"# {machine.folder.name}: {line}")
            raise
        finally:
            pair.close()
        for machine in (pair.target, pair.host, *pair.more):
            wrong = re.findall(r".*(?:CRITICAL|ERROR: AddressSanitizer|runtime error).*", machine.text())
            assert not wrong, (machine.folder.name, wrong)


@contextlib.contextmanager
def paired() -> Iterator[Pair]:
    with strangers() as pair:
        pair.pair()
        yield pair


def wait_peers(machine: Machine, names: set[str], seconds: float = 20) -> None:
    wait_until(lambda: set(machine.peers()) == names, f"{machine.folder.name} to have {names}", seconds)


def now_usec() -> int:
    return time.time_ns() // 1000
