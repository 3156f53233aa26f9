# SPDX-License-Identifier: GPL-2.0-or-later
"""Modules are unloaded and loaded again: what a session holds it says, and holds no longer than it lasts; the next one takes what
is loaded then, another build too."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from bed.machine import Machine
from support import fio, ntprofctl, privileges
from support.fio import READ_4K, Load
from support.lab import Lab
from support.ntprofctl import KERNEL_UNSUPPORTED, START, ctl

_MODULE = "nvme_tcp"
_MODULES = ("nvme_core", "nvme_tcp", "nvmet", "nvmet_tcp")
_NQN = "nqn.2026-01.org.ntprof:bed"
_CONNECT = """
nvme connect --transport tcp --traddr 10.8.0.2 --trsvcid 4420 --nqn "$1" >&2
for _ in $(seq 100); do
  for controller in /sys/class/nvme/nvme*; do
    if [ "$(cat "$controller/subsysnqn")" = "$1" ] && [ "$(cat "$controller/state")" = live ]; then
      for found in "$controller"/nvme*n*; do
        found=${found##*/}; name=$(sed 's/c[0-9]*n/n/' <<< "$found")
        [ ! -b "/dev/$name" ] || { echo "$name"; exit 0; }
      done
    fi
  done
  sleep 0.1
done
exit 1
"""
# As a kernel that was configured without BTF of modules makes it: the section has another name. With a byte less at its end it is
# not signed: else the signature would be wrong.
_STRIP = """
import subprocess, sys
path = subprocess.run(["modinfo", "-n", sys.argv[1]], check=True, capture_output=True, text=True).stdout.strip()
content = open(path, "rb").read()
assert content.count(b"\\0.BTF\\0") == 1, path
open(sys.argv[2], "wb").write(content.replace(b"\\0.BTF\\0", b"\\0.XXX\\0")[:-1])
"""
_WAIT_FINISHED = """
for _ in $(seq 100); do
  [ "$(ntprofctl session show "$1" --json | jq -r .state)" != finished ] || exit 0
  sleep 0.1
done
exit 1
"""
_STRIPPED = "/root/nvme-tcp-without-btf.ko"


def _connect(machine: Machine) -> str:
    return machine.sh(_CONNECT, _NQN, timeout=120).stdout.strip()


def _disconnect(machine: Machine) -> None:
    machine.run(["nvme", "disconnect", "--nqn", _NQN], check=True)


def _unload(machine: Machine) -> tuple[int, str]:
    found = machine.run(["rmmod", _MODULE])
    return found.status, found.stderr


def _references(machine: Machine) -> dict[str, int]:
    text = machine.sh('for module; do cat "/sys/module/$module/refcnt"; done', *_MODULES).stdout
    return dict(zip(_MODULES, map(int, text.split())))


def _check(machine: Machine) -> dict[str, Any]:
    """Also when nothing can be recorded, which is a status of its own."""
    return dict(ctl(machine, "check", "--json").json())


def _of_module(document: dict[str, Any]) -> dict[str, Any]:
    return next(module for module in document["inventory"]["modules"] if module["name"] == _MODULE)


def _record(lab: Lab, test: Any, what: str, namespace: str) -> None:
    with ntprofctl.session(lab.host, namespace) as session:
        outcome = fio.run(lab.host, namespace, [Load(READ_4K, 100)])[0]
    report = ntprofctl.recorded(session)
    test.equal(f"commands by {what}", report.commands, outcome.ios)
    test.at_least(f"joined and lost ones by {what}", report.joined + sum(report.losses.values()), outcome.ios)
    test.at_least(f"joined commands by {what}", report.joined, 1)


def _holds(lab: Lab) -> None:
    host = lab.host
    with lab.scope.test("a session holds what check names, by the kernel's own count, and nothing when it has ended") as test:
        told = ctl(host, "check", "--namespace", lab.namespace, "--json").check().json()["holds"]
        before = _references(host)
        session = ntprofctl.start_detached(host, lab.namespace)
        ntprofctl.wait_recording(host)
        shown = session.show()["holds"]
        test.contains("session show", ctl(host, "session", "show", session.id).check().stdout, "cannot be unloaded before it ends")
        during = _references(host)
        session.end()
        test.equal("held, as the session tells", sorted(shown), sorted(told))
        test.equal("held, by the kernel's count", [name for name in _MODULES if during[name] > before[name]], sorted(told))
        test.equal("references afterwards", _references(host), before)
        test.equal("held by a session that has ended, as it tells", session.show()["holds"], [])
        session.stop()
        test.note(f"holds {', '.join(told)}")


def _in_use(lab: Lab) -> None:
    host = lab.host
    with lab.scope.test(f"{_MODULE} can be unloaded when the session has ended, and the same ntprofd records by the next one") as test:
        recording = ntprofctl.start_detached(host, lab.namespace)
        ntprofctl.wait_recording(host)
        _disconnect(host)
        status, why = _unload(host)
        test.equal("status of rmmod while it records", status, 1)
        test.contains("why", why, "in use")
        recording.stop()
        test.equal("rmmod when it has ended", _unload(host), (0, ""))
        test.equal("left in the kernel", ntprofctl.left_attached(host), [])
        host.run(["modprobe", _MODULE], check=True)
        _record(lab, test, "the next module", _connect(host))


@contextlib.contextmanager
def _probes(machine: Machine, typed: bool) -> Iterator[None]:
    """By probes, also where programs would be typed."""
    if not typed:
        yield
        return
    with privileges.limited_to(machine, "CAP_BPF", "CAP_PERFMON"), privileges.setting(machine, "kernel.perf_event_paranoid", "2"):
        yield


def _loose(lab: Lab, typed: bool, namespace: str) -> None:
    host = lab.host
    name = f"by probes {_MODULE} can be unloaded: that ends the session, whose report says so"
    with lab.scope.test(name) as test, _probes(host, typed):
        recording = ntprofctl.start_detached(host, namespace)
        ntprofctl.wait_recording(host)
        test.lacks("held", str(recording.show()["holds"]), _MODULE)
        outcome = fio.run(host, namespace, [Load(READ_4K, 100)])[0]
        _disconnect(host)
        test.equal("rmmod while it records", _unload(host), (0, ""))
        host.sh(_WAIT_FINISHED, recording.id, timeout=120)
        host.run(["modprobe", _MODULE], check=True)
        _connect(host)
        report = recording.stop()
        test.equal("commands", report.commands, outcome.ios)
        test.contains("warnings", "\n".join(report.warnings), f"module {_MODULE}, which it recorded by kprobes, was unloaded")
        test.equal("left in the kernel", ntprofctl.left_attached(host), [])


def _another_build(lab: Lab) -> str:
    """Returns the namespace as it is called afterwards."""
    namespace = lab.namespace
    host = lab.host
    release = host.run(["uname", "-r"], check=True).stdout.strip()
    with lab.scope.test(f"{_MODULE} without BTF in the place of one with it: nothing is taken from the old one, and it is told") as test:
        daemon = host.run(["pgrep", "-x", "ntprofd"], check=True).stdout
        host.run(["cp", f"/sys/kernel/btf/{_MODULE}", f"/root/{_MODULE}.btf"], check=True)
        host.run(["/usr/bin/python3", "-c", _STRIP, _MODULE, _STRIPPED], check=True)
        host.sh(f"rmmod {_MODULE}; insmod {_STRIPPED}")
        document = _check(host)
        test.equal("types of it", (_of_module(document)["btf"], _of_module(document)["types"]), (False, "none"))
        test.contains("why it cannot be recorded", str(document["transports"]["tcp"]["host"]), f"{_MODULE} has no BTF")
        test.contains("what to do", str(document["notes"]), f"{_MODULE}.btf")
        namespace = _connect(host)
        refused = host.run([*START, "--namespace", namespace, "--duration", "1"])
        test.equal("exit status of a session", refused.status, KERNEL_UNSUPPORTED)
        test.contains("what the session says", refused.stderr, f"{_MODULE} has no BTF")

        # What pahole would make of this very module.
        host.sh('mkdir -p "$1"; cp "/root/$2.btf" "$1/"; chmod a+r "$1/$2.btf"', f"/etc/ntprof/btf/{release}", _MODULE)
        document = _check(host)
        test.equal("types of it, with a file", _of_module(document)["types"], "file")
        families = [document["programs"][side]["family"] for side in ("host", "target")]
        test.equal("programs of host and target", families, ["probes", "typed"])
        _record(lab, test, "a module whose types are from a file", namespace)

        host.sh(f"rm -r /etc/ntprof/btf/{release}; rmmod {_MODULE}; modprobe {_MODULE}")
        test.equal("types of the first build", _of_module(_check(host))["types"], "kernel")
        namespace = _connect(host)
        _record(lab, test, "the first build", namespace)
        test.equal("it is the same ntprofd", host.run(["pgrep", "-x", "ntprofd"]).stdout, daemon)
    return namespace


def run(lab: Lab) -> None:
    typed = _check(lab.host)["programs"]["host"]["family"] == "typed"
    namespace = lab.namespace
    _holds(lab)
    if typed:
        _in_use(lab)
        namespace = _another_build(lab)
    else:
        lab.scope.say("modules of this kernel have no BTF: what the kernel does to typed programs is for other kernels")
    _loose(lab, typed, namespace)
