# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions of the matrix: what the report has of each kind of command, beside what its issuer measured."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bed import Bed
from support.fio import Kind
from support.ntprofctl import Session, recorded, session
from support.report import Group, Report

from . import inject, load, plan
from .plan import Injection

_ADDRESS = "10.8.0.2"
_SERVICES = {"tcp": "4420", "rdma": "4421"}
_HERE = Path(__file__).parent
_WARM_UP = plan.Load(25)


@dataclass(frozen=True)
class Seen:
    """One kind of command in one situation."""

    lat_ns: float
    """By who issued them."""
    rows: dict[str, float | None]
    """Mean times of the report, by STAGE and STAGE.COMPONENT; None: not told."""
    leaves: set[str]
    """Of the rows, those that no others are parts of."""
    largest: str
    """The stage that the report names."""
    why_none: str | None = None
    """Why there are no rows at all."""


def _rows(group: Group) -> dict[str, float | None]:
    rows: dict[str, float | None] = {}
    for stage in group.data["stages"]:
        rows[stage["id"]] = stage["mean_ns"]
        for part in stage["components"]:
            rows[f"{stage['id']}.{part['id']}"] = part["mean_ns"]
    return rows


def _leaves(group: Group) -> set[str]:
    """The rows that no others are parts of, and that are added up."""
    found = set()
    for stage in group.data["stages"]:
        parts = [part for part in stage["components"] if not part.get("information")]
        parents = {part.get("part_of") for part in parts}
        found |= {f"{stage['id']}.{part['id']}" for part in parts if part["id"] not in parents} or {stage["id"]}
    return found


_WAKE_PEER = """
for _ in 1 2 3 4; do ! ntprofctl peer test target >/dev/null || exit 0; done
ntprofctl peer test target
"""


class Bench:
    """A bed of two machines with the drives of the matrix."""

    def __init__(self, bed: Bed) -> None:
        self.bed = bed
        self._devices: dict[tuple[str, str], str] = {}

    def prepare(self) -> None:
        bed = self.bed
        for machine in (bed.host, bed.target):
            machine.sh(f"mkdir -p {load.FOLDER}")
            for file in ("flush.py", "burner.py", "spin.py", "host.sh", "target.sh", "withdraw.sh"):
                machine.put(_HERE / file, f"{load.FOLDER}/{file}")
            inject.prepare(machine)
        inject.build_spin(bed.host)
        drives = [f"{name}={ns}" for name, ns in plan.DRIVES.items()]
        bed.target.sh(f'[ -e /sys/kernel/config/nvmet/ports/2 ] || bash {load.FOLDER}/target.sh "$@"', _ADDRESS,
                      _SERVICES["rdma"], *drives, timeout=300)
        bed.host.sh("modprobe rdma_rxe; rdma link show rxe0/1 >/dev/null 2>&1 || rdma link add rxe0 type rxe netdev vh")

    def restore(self) -> None:
        """As before."""
        for transport, drive in self._devices:
            self.bed.host.sh(f'nvme disconnect --nqn="nqn.2026-01.org.ntprof:matrix-{transport}-{drive}"')
        self._devices.clear()
        self.bed.host.sh("rdma link delete rxe0")
        self.bed.target.sh(f"bash {load.FOLDER}/withdraw.sh", timeout=300)
        for machine in (self.bed.host, self.bed.target):
            inject.restore(machine)

    def device(self, transport: str, drive: str) -> str:
        """Connected now if it was not yet."""
        if (transport, drive) not in self._devices:
            tags = ["--nr-io-queues=1", f"--queue-size={plan.FEW_TAGS}"] if drive == plan.FEW else []
            shown = self.bed.host.run(["bash", f"{load.FOLDER}/host.sh", transport, _ADDRESS, _SERVICES[transport], drive,
                                       *tags], check=True, timeout=300)
            self._devices[transport, drive] = shown.stdout.strip()
        return self._devices[transport, drive]

    def measure(self, transport: str, drive: str, issue: plan.Load, kinds: Sequence[Kind],
                injection: Injection | None) -> dict[Kind, Seen]:
        """One session, the kinds one after the other."""
        device, outcomes = self.device(transport, drive), {}
        # On machines that are slow a daemon that is only now started is given up, and the session is of the host's side.
        self.bed.host.sh(_WAKE_PEER, timeout=300)
        with session(self.bed.host, device, "all", "--detail") as recording, contextlib.ExitStack() as crowd:
            _wait_recording(recording)
            crowd.enter_context(load.readers(self.bed.host, device, issue))
            for kind in kinds:
                # The two ways are told apart by the clocks' offset, whose bounds are those of fast commands. It also bounds
                # what waits at a completion queue that is to be polled for another: no event tells when that came.
                if injection in (plan.TO_TARGET, plan.TO_HOST, plan.TARGET_CPU, plan.RECEIVE):
                    load.run(self.bed.host, device, load.WARM_UP, _WARM_UP)
                with inject.inject(self.bed, injection, transport):
                    outcomes[kind] = load.run(self.bed.host, device, kind, issue)
        report = recorded(recording)
        return {kind: _seen(report, kind, outcome) for kind, outcome in outcomes.items()}


def _wait_recording(recording: Session) -> None:
    deadline = time.monotonic() + 120
    while (state := recording.show()["state"]) != "recording":
        assert time.monotonic() < deadline, f"the session is {state} after 120 s"
        time.sleep(0.2)


def _seen(report: Report, kind: Kind, outcome: load.Outcome) -> Seen:
    group = report.find(kind)
    if group is None:
        return Seen(outcome.lat_ns, {}, set(), "", f"no table of joined {kind.name}; paths {report.data['paths']}, targets "
                    f"{report.data['targets']}, losses {report.losses}, {report.warnings}")
    if group.commands != outcome.ios or group.joined < 0.95 * outcome.ios:
        return Seen(outcome.lat_ns, {}, set(), "",
                    f"{group.joined} joined of {group.commands} commands, {outcome.ios} were issued")
    return Seen(outcome.lat_ns, _rows(group), _leaves(group), group.largest)
