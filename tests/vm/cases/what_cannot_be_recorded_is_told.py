# SPDX-License-Identifier: GPL-2.0-or-later
"""A name that is no NVMe-oF namespace gets an error that says what it is, and an exit status of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from support.lab import Lab
from support.ntprofctl import START, ctl

_NO_SUCH, _NOT_FABRICS, _TRANSPORT, _USAGE = 3, 4, 5, 2

_LOOP_UP = """
nvmet=/sys/kernel/config/nvmet nqn=nqn.2026-01.org.ntprof:loop
modprobe nvme-loop
mkdir $nvmet/subsystems/$nqn
echo 1 > $nvmet/subsystems/$nqn/attr_allow_any_host
mkdir $nvmet/subsystems/$nqn/namespaces/1
for device in /dev/nullb1 /dev/nullb_slow; do
  if [ -b $device ]; then echo $device > $nvmet/subsystems/$nqn/namespaces/1/device_path; fi
done
echo 1 > $nvmet/subsystems/$nqn/namespaces/1/enable
mkdir $nvmet/ports/3
echo loop > $nvmet/ports/3/addr_trtype
ln -s $nvmet/subsystems/$nqn $nvmet/ports/3/subsystems/
nvme connect --transport=loop --nqn=$nqn
for _ in $(seq 100); do
  for entry in /sys/class/nvme-subsystem/*; do
    if [ "$(cat $entry/subsysnqn)" = $nqn ]; then found=$(find $entry/ -maxdepth 1 -name 'nvme*n1' -printf '%f'); fi
  done
  [ ! -b "/dev/${found:-none}" ] || { echo "$found"; exit 0; }
  sleep 0.1
done
exit 1
"""
_LOOP_DOWN = """
nvmet=/sys/kernel/config/nvmet nqn=nqn.2026-01.org.ntprof:loop
nvme disconnect --nqn=$nqn >/dev/null
rm $nvmet/ports/3/subsystems/$nqn
rmdir $nvmet/ports/3 $nvmet/subsystems/$nqn/namespaces/1 $nvmet/subsystems/$nqn
"""


@contextlib.contextmanager
def _loop(lab: Lab) -> Iterator[str]:
    namespace = lab.host.sh(_LOOP_UP).stdout.strip()
    try:
        yield namespace
    finally:
        lab.host.sh(_LOOP_DOWN)


def _refused(lab: Lab, what: str, name: str, status: int, *pieces: str) -> None:
    with lab.scope.test(f"{what}: an error that says so") as test:
        result = lab.host.run([*START, "--namespace", name, "--duration", "1s"], timeout=120)
        test.equal(f"exit status for {name}", result.status, status)
        for piece in pieces:
            test.contains(f"error for {name}", result.stderr, piece)
        test.equal("standard output", result.stdout, "")


def run(lab: Lab) -> None:
    controller = lab.namespace.partition("n1")[0]
    _refused(lab, "a device that is not there", "nvme77n1", _NO_SUCH, "nvme77n1", "no such")
    _refused(lab, "a local PCIe namespace", lab.local_namespace, _NOT_FABRICS, "PCIe namespace, not NVMe-oF", "pcie")
    _refused(lab, "a controller", controller, _NO_SUCH, "is a controller", lab.namespace)
    _refused(lab, "a disk that is not NVMe", "/dev/vda", _NO_SUCH, "not an NVMe namespace")
    _refused(lab, "a path outside /dev", "/etc/passwd", _USAGE, "/dev")
    lab.host.sh('addpart "/dev/$1" 1 2048 2048', lab.namespace)
    try:
        _refused(lab, "a partition", f"{lab.namespace}p1", _NO_SUCH, "partition", lab.namespace)
    finally:
        lab.host.sh('delpart "/dev/$1" 1', lab.namespace)
    if lab.host.run(["modprobe", "--dry-run", "nvme-loop"]).status == 0:
        with _loop(lab) as namespace:
            _refused(lab, "a transport that is not supported", namespace, _TRANSPORT, "transport loop")
    else:
        lab.scope.say("a transport that is not supported: this kernel has no nvme-loop (tests/unit/test-namespace.c has it)")
    with lab.scope.test("the path device and the path in /dev name the namespace too") as test:
        path = lab.host.sh("ls /sys/block").stdout.split()
        hidden = next(name for name in path if name.startswith(f"{controller}c"))
        for name in (f"/dev/{lab.namespace}", hidden):
            result = ctl(lab.host, "session", "start", "--namespace", name, "--duration", "100ms", "--json")
            test.equal(f"exit status for {name}: {result.stderr.strip()}", result.status, 0)
            if result.status == 0:
                test.equal(f"namespace of {name}", result.json()["paths"][0]["namespace"], lab.namespace)
