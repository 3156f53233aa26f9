# SPDX-License-Identifier: GPL-2.0-or-later
"""A bed of two or three machines made ready for measuring: its namespace written once."""

from __future__ import annotations

from dataclasses import dataclass

from bed import Bed

from . import pairing
from .checks import Scope, Test
from .lab import Laboratory, prepare_host
from .report import Report

PEER = "target"
PEER2 = "target2"
"""What the targets are called on the host."""
HOST = "host"
"""What the host is called on the targets."""


@dataclass
class Lab(Laboratory):
    """A host and its targets, which the first case makes peers."""

    @staticmethod
    def prepare(bed: Bed, scope: Scope) -> Lab:
        prepare_host(bed, bed.namespace)
        for machine in bed.virtual_machines[1:]:
            machine.sh("sysctl -qw net.ipv4.tcp_slow_start_after_idle=0")
        return Lab(bed, scope, bed.namespace)

    @staticmethod
    def prepare_paired(bed: Bed, scope: Scope) -> Lab:
        """With all targets its peers."""
        lab = Lab.prepare(bed, scope)
        if not lab.paired:
            for machine in bed.virtual_machines[1:]:
                pairing.pair(bed.host, machine)
        return lab

    @property
    def paired(self) -> bool:
        """Whether a bed that was up already had them paired."""
        return self.target.sh(f'[ ! -e {pairing.ETC}/{HOST}.conf ] || echo yes').stdout.strip() == "yes"


def account(test: Test, report: Report) -> None:
    """Each sampled command is in the report once: joined, or lost by a cause that it tells."""
    test.equal("joined commands plus losses, against sampled ones", report.joined + sum(report.losses.values()), report.sampled)
    test.note(f"{report.joined} of {report.sampled} joined, losses {report.losses}, beside {report.beside}")
