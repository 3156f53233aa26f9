#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the daemon offers is what dbus/ says, member by member."""

import os
from pathlib import Path

from gi.repository import Gio

import tap
from service import MANAGER, NAME, ROOT, SESSION, Service, running

XML = Path(os.environ.get("NTPROF_SOURCE", ".")) / "dbus"
EMITS = "org.freedesktop.DBus.Property.EmitsChangedSignal"


def described(interface: Gio.DBusInterfaceInfo) -> set[tuple]:
    """Every member as a tuple that two descriptions of the same thing share."""
    found: set[tuple] = set()
    for method in interface.methods:
        found.add(("method", method.name, tuple((a.name, a.signature) for a in method.in_args),
                   tuple((a.name, a.signature) for a in method.out_args)))
    for signal in interface.signals:
        found.add(("signal", signal.name, tuple((a.name, a.signature) for a in signal.args)))
    for prop in interface.properties:
        emits = [a.value for a in prop.annotations if a.key == EMITS]
        found.add(("property", prop.name, prop.signature, int(prop.flags), emits[0] if emits else "true"))
    return found


def compare(service: Service, path: str, name: str, at_least: int = 4) -> None:
    client = service.client()
    offered = Gio.DBusNodeInfo.new_for_xml(client.call(path, "org.freedesktop.DBus.Introspectable", "Introspect")[0])
    documented = Gio.DBusNodeInfo.new_for_xml((XML / f"{name}.xml").read_text())
    one, other = described(offered.lookup_interface(name)), described(documented.lookup_interface(name))
    assert one == other, f"only the daemon: {one - other}; only the XML: {other - one}"
    assert len(one) >= at_least


@tap.case
def the_manager_is_as_documented(service: Service) -> None:
    compare(service, ROOT, MANAGER)


@tap.case
def a_session_is_as_documented(service: Service) -> None:
    compare(service, service.client().start(keep=True), SESSION)


@tap.case
def what_it_does_for_other_machines_is_as_documented(service: Service) -> None:
    compare(service, f"{ROOT}/internal", "org.ntprof1.internal.Target", at_least=2)


@tap.case
def the_root_lists_its_sessions(service: Service) -> None:
    client = service.client()
    path = client.start(keep=True)
    node = Gio.DBusNodeInfo.new_for_xml(client.call(f"{ROOT}/session", "org.freedesktop.DBus.Introspectable", "Introspect")[0])
    assert [n.path for n in node.nodes] == [path.rsplit("/", 1)[1]]


@tap.case
def the_manager_tells_version_features_kernel(service: Service) -> None:
    properties = service.client().get_all(ROOT, MANAGER)
    assert properties["Kernel"] == "6.1.0-test-amd64", properties
    features = properties["Features"]
    sides = {f"nvme-{transport}-{side}" for transport in ("tcp", "rdma") for side in ("host", "target")}
    assert sides | {"detail"} <= set(features) and len(set(features)) == len(features), features
    assert properties["Version"].count(".") == 2
    assert NAME == "org.ntprof1"


@tap.case
def the_manager_tells_its_privileges_as_proc_does(service: Service) -> None:
    names = {21: "CAP_SYS_ADMIN", 38: "CAP_PERFMON", 39: "CAP_BPF"}
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{service.daemon.pid}/status").read_text().splitlines())
    told = service.client().get_all(ROOT, MANAGER)["Privileges"]
    assert set(told) == {"effective", "permitted"}, told
    for key, line in (("effective", "CapEff"), ("permitted", "CapPrm")):
        mask = int(status[line], 16)
        assert told[key] == [names.get(bit, bit) for bit in range(64) if mask >> bit & 1], (told, status[line])
    assert told["effective"] == [], "it uses one while nothing is loaded"
    assert int(status["CapInh"], 16) == int(status["CapAmb"], 16) == 0, status


tap.main(running)
