# SPDX-License-Identifier: GPL-2.0-or-later
"""The real ntprofd on a private bus, and clients of it, by Gio only."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

import make_replay  # noqa: E402

NAME, ROOT = "org.ntprof1", "/org/ntprof1"
MANAGER, SESSION = "org.ntprof1.Manager", "org.ntprof1.Session"
PROPERTIES, OBJECT_MANAGER = "org.freedesktop.DBus.Properties", "org.freedesktop.DBus.ObjectManager"
NTPROFD = os.environ.get("NTPROFD", "build/daemon/ntprofd")
PATIENCE = 60.0     # s; only a test that fails needs it, and builds with sanitizers on a busy machine

CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>custom</type>
  <listen>unix:path={folder}/bus</listen>
  <auth>EXTERNAL</auth>
  <!-- as /usr/share/dbus-1/system.conf -->
  <policy context="default">
    <allow user="*"/>
    <deny own="*"/>
    <deny send_type="method_call"/>
    <allow send_type="signal"/>
    <allow send_requested_reply="true" send_type="method_return"/>
    <allow send_requested_reply="true" send_type="error"/>
    <allow receive_type="method_call"/>
    <allow receive_type="method_return"/>
    <allow receive_type="error"/>
    <allow receive_type="signal"/>
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus"/>
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Introspectable"/>
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Properties"/>
  </policy>
  {policy}
</busconfig>
"""
# Any user may call anything: what is refused then, the daemon refuses.
OPEN_POLICY = """<policy context="default"> <allow own="org.ntprof1"/> <allow send_destination="org.ntprof1"/> </policy>"""


def errors_of(call: Callable[[], object]) -> tuple[str, str]:
    """Name (without org.ntprof1.Error.) and message of the D-Bus error that call() must raise."""
    try:
        result = call()
    except GLib.Error as error:
        name = Gio.DBusError.get_remote_error(error) or error.domain
        return name.removeprefix("org.ntprof1.Error."), error.message.removeprefix(f"GDBus.Error:{name}: ")
    raise AssertionError(f"no error, but {result}")


def spin(done: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
    """Run the main context until done()."""
    context = GLib.MainContext.default()
    deadline = time.monotonic() + seconds
    tick = GLib.timeout_add(10, lambda: True)
    try:
        while not done():
            if time.monotonic() > deadline:
                raise AssertionError(f"timed out waiting: {what}")
            context.iteration(True)
    finally:
        GLib.source_remove(tick)


class Steps:
    """What asynchronous calls ended with, in order: call f(..., steps.take, x.f_finish), then steps.wait(how many by now)."""

    def __init__(self) -> None:
        self.results: list = []

    def take(self, _source, result, finish) -> None:
        try:
            self.results.append(finish(result))
        except GLib.Error as error:
            self.results.append(error)

    def wait(self, n: int) -> object:
        """The last one, which is the n-th."""
        spin(lambda: len(self.results) == n, f"result {n}")
        return self.results[-1]


class Client:
    """One connection to the bus."""

    def __init__(self, address: str) -> None:
        flags = Gio.DBusConnectionFlags
        self.connection = Gio.DBusConnection.new_for_address_sync(
            address, flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, None, None)
        self.connection.set_exit_on_close(False)
        self.signals: list[tuple[str, str, tuple]] = []     # path, member, arguments
        self.connection.signal_subscribe(NAME, None, None, None, None, Gio.DBusSignalFlags.NONE,
                                         lambda _c, _s, path, _i, member, arguments: self.signals.append(
                                             (path, member, arguments.unpack())))

    def close(self) -> None:
        self.connection.close_sync(None)

    def call(self, path: str, interface: str, method: str, arguments: GLib.Variant | None = None) -> tuple:
        return self.call_fds(path, interface, method, arguments)[0]

    def call_fds(self, path: str, interface: str, method: str, arguments: GLib.Variant | None = None) -> tuple[tuple, list[int]]:
        reply, fds = self.connection.call_with_unix_fd_list_sync(
            NAME, path, interface, method, arguments, None, Gio.DBusCallFlags.NO_AUTO_START, int(PATIENCE * 1000), None, None)
        return reply.unpack(), fds.steal_fds() if fds else []

    def begin(self, path: str, interface: str, method: str, name: str = NAME) -> list:
        """A call whose answer is waited for by spin(lambda: result)."""
        result: list = []

        def done(connection, answer):
            try:
                result.append(connection.call_finish(answer).unpack())
            except GLib.Error as error:
                result.append(error)

        self.connection.call(name, path, interface, method, None, None, Gio.DBusCallFlags.NO_AUTO_START,
                             int(PATIENCE * 1000), None, done)
        return result

    def is_owned(self, name: str = NAME) -> bool:
        """Somebody on the bus has the name."""
        return self.connection.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner",
                                         GLib.Variant("(s)", (name,)), None, Gio.DBusCallFlags.NONE, -1, None).unpack()[0]

    def start(self, **options: object) -> str:
        """StartSession; options by their names with _ for -, a GLib.Variant or a value of the right type."""
        types = {"namespace": "s", "duration-usec": "t", "sample": "s", "keep": "b", "peer": "s", "no-target": "b",
                 "detail": "b"}
        options.setdefault("namespace", "nvme6n1")
        given = {}
        for key, value in options.items():
            key = key.replace("_", "-")
            given[key] = value if isinstance(value, GLib.Variant) else GLib.Variant(types[key], value)
        return self.call(ROOT, MANAGER, "StartSession", GLib.Variant("(a{sv})", (given,)))[0]

    def get(self, path: str, name: str, interface: str = SESSION) -> object:
        return self.call(path, PROPERTIES, "Get", GLib.Variant("(ss)", (interface, name)))[0]

    def get_all(self, path: str, interface: str = SESSION) -> dict:
        return self.call(path, PROPERTIES, "GetAll", GLib.Variant("(s)", (interface,)))[0]

    def sessions(self) -> dict[str, dict]:
        """By path: properties, of all sessions that the ObjectManager lists."""
        objects = self.call(ROOT, OBJECT_MANAGER, "GetManagedObjects")[0]
        return {path: interfaces[SESSION] for path, interfaces in objects.items() if SESSION in interfaces}

    def wait_state(self, path: str, *states: str) -> str:
        spin(lambda: self.get(path, "State") in states, f"{path} to be {states}")
        return str(self.get(path, "State"))

    def states_told(self, path: str) -> list[str]:
        """Of a session, as PropertiesChanged told them."""
        return [a[1]["State"] for p, m, a in self.signals if p == path and m == "PropertiesChanged" and "State" in a[1]]

    def report_fd(self, path: str) -> int:
        (index,), fds = self.call_fds(path, SESSION, "GetReport", GLib.Variant("(a{sv})", ({},)))
        return fds[index]

    def report(self, path: str) -> dict:
        with os.fdopen(self.report_fd(path), "rb") as file:
            return json.load(file)


@contextlib.contextmanager
def stopped(process: subprocess.Popen) -> Iterator[None]:
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


class Service:
    """A private bus and, when started, the daemon on it."""

    def __init__(self, folder: Path, policy: str = OPEN_POLICY) -> None:
        self.folder = folder
        self.address = f"unix:path={folder}/bus"
        self.daemon: subprocess.Popen | None = None
        self.clients: list[Client] = []
        (folder / "bus.conf").write_text(CONFIG.format(folder=folder, policy=policy))
        self.bus = subprocess.Popen(["dbus-daemon", "--nofork", "--nopidfile", f"--config-file={folder}/bus.conf"],
                                    stderr=subprocess.DEVNULL)
        wait_until(lambda: _listens(folder / "bus"), "the bus to listen")

    def client(self) -> Client:
        client = Client(self.address)
        self.clients.append(client)
        return client

    def recording(self, recording: make_replay.Recording) -> Path:
        path = self.folder / f"{len(list(self.folder.iterdir()))}.ntprof"
        recording.write(path)
        return path

    def run(self, *arguments: str | Path, seconds: float = PATIENCE) -> subprocess.CompletedProcess:
        """The daemon, when it is expected to end by itself."""
        return subprocess.run([NTPROFD, "--bus", self.address, *map(str, arguments)], capture_output=True, text=True,
                              timeout=seconds, check=False)

    def start(self, recording: make_replay.Recording | Path | None = None, speed: float = 20, arguments: tuple = ()) -> None:
        if recording is None:
            recording = make_replay.recording()
        if isinstance(recording, make_replay.Recording):
            recording = self.recording(recording)
        self.daemon = subprocess.Popen([NTPROFD, "--bus", self.address, "--replay", str(recording), "--replay-speed", str(speed),
                                        *map(str, arguments)], stderr=subprocess.PIPE, text=True)
        client = self.client()

        def owned() -> bool:
            assert self.daemon
            if self.daemon.poll() is not None:
                raise AssertionError(f"ntprofd ended: {self.daemon.stderr.read()}")
            return client.is_owned()

        wait_until(owned, "ntprofd to own its name")

    def stop(self) -> str:
        """End the daemon; it must do so cleanly. What it wrote to standard error."""
        assert self.daemon
        daemon, self.daemon = self.daemon, None
        daemon.send_signal(signal.SIGTERM)
        try:
            _, text = daemon.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            daemon.kill()
            raise
        assert daemon.returncode == 0, f"ntprofd ended with {daemon.returncode}: {text}"
        return text

    def kill(self) -> None:
        """The daemon ends at once, and uncleanly."""
        assert self.daemon
        daemon, self.daemon = self.daemon, None
        daemon.kill()
        daemon.communicate(timeout=PATIENCE)

    def close(self) -> None:
        try:
            if self.daemon:
                self.stop()
        finally:
            for client in self.clients:
                with contextlib.suppress(GLib.Error):
                    client.close()
            self.bus.terminate()
            self.bus.wait()


def _listens(path: Path) -> bool:
    """A socket is there before it listens."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


def wait_until(done: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            raise AssertionError(f"timed out waiting for {what}")
        time.sleep(0.02)


@contextlib.contextmanager
def private_bus(policy: str = OPEN_POLICY) -> Iterator[Service]:
    """A bus; the test starts the daemon as it likes."""
    with tempfile.TemporaryDirectory(prefix="ntprof-bus.") as folder:
        Path(folder).chmod(0o755)   # other users' clients too
        service = Service(Path(folder), policy)
        try:
            yield service
        finally:
            service.close()


@contextlib.contextmanager
def running() -> Iterator[Service]:
    """A daemon that replays the standard recording, 2 s of it in 0.1 s."""
    with private_bus() as service:
        service.start()
        yield service
