# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands of 1 MiB through send buffers of 64 KiB onto a link of 100 Mbit/s: the sender waits most of the time, inside
the driver, for room in the socket. That is the network's time, neither driver's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from bed import SLOW_NQN
from support import fio
from support.fio import READ_1M, WRITE_1M, Kind, Load
from support.lab import Lab
from support.network import HOST_EGRESS, TARGET_EGRESS, netem
from support.ntprofctl import recorded, session
from support.report import STAGES, Group

_BITS_PER_S = 100e6
_BUFFER = 64 * 1024
_COUNT = 10


@contextlib.contextmanager
def _small_buffers(lab: Lab) -> Iterator[str]:
    """A connection to the slow subsystem that is made with small send buffers on both sides."""
    def reconnect(wmem: str) -> str:
        for machine in (lab.host, lab.target):
            machine.sh(f"sysctl -qw net.ipv4.tcp_wmem='{wmem}'")
        lab.host.run(["nvme", "disconnect", "--nqn", SLOW_NQN], check=True)
        return lab.bed.slow_namespace

    before = lab.host.read_file("/proc/sys/net/ipv4/tcp_wmem").decode().strip()
    try:
        yield reconnect(f"4096 16384 {_BUFFER}")
    finally:
        reconnect(before)


def _measure(lab: Lab, namespace: str, kind: Kind) -> Group:
    with session(lab.host, namespace) as recording:
        fio.run(lab.host, namespace, [Load(kind, _COUNT)])
    return recorded(recording).group(kind)


def _line(label: str, group: Group) -> str:
    return label + ": " + ", ".join(f"{stage} {group.stages[stage] / 1e3:,.0f}" for stage in STAGES) + " us"


def run(lab: Lab) -> None:
    with _small_buffers(lab) as namespace:
        for kind, where, driver in ((WRITE_1M, HOST_EGRESS, "host_driver"), (READ_1M, TARGET_EGRESS, "target_driver")):
            with lab.scope.test(f"{kind.name} that wait for room in the socket: the wait is the network's, not of "
                                f"{driver}") as test:
                before = _measure(lab, namespace, kind)
                with netem(lab.bed, where, "rate 100mbit"):
                    after = _measure(lab, namespace, kind)
                test.note(_line("no limit", before))
                test.note(_line("100 Mbit/s", after))
                # All but what fits the buffer has to wait until it is on the wire.
                waited = (kind.size - _BUFFER) * 8 / _BITS_PER_S * 1e9
                growth = after.mean_ns - before.mean_ns
                # Not the growth: what takes long without a limit, too, as sending page by page to a receiver that runs inside the
                # sender's call (7.3), goes on while the wire is busy.
                test.at_least("the network's time", after.stages["network"] / 1e3, 0.95 * waited / 1e3, "us")
                test.at_least("growth of the network", (after.stages["network"] - before.stages["network"]) / 1e3,
                              0.95 * growth / 1e3, "us")
                for stage in STAGES:
                    if stage == "network":
                        continue
                    grown = (after.stages[stage] - before.stages[stage]) / 1e3
                    test.at_most(f"growth of {stage}", grown, 0.05 * growth / 1e3, "us")
                    if stage != driver:  # without a limit the receiver runs inside the sender's call
                        test.at_least(f"growth of {stage}", grown, -0.05 * growth / 1e3, "us")
