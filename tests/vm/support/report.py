# SPDX-License-Identifier: GPL-2.0-or-later
"""A report of ntprof (org.ntprof.report/1), as tests ask it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .fio import Kind

STAGES = ("host_block", "host_driver", "network", "target_driver", "storage")

# Causes that are not among the sampled commands: told beside them.
_BESIDE = {"host_recursion", "target_recursion", "target_ring_full", "target_map_full", "target_stale",
           "target_without_host", "passthrough", "kind_overflow", "walk_truncated"}


@dataclass(frozen=True)
class Component:
    """Mean time of a part of a stage, and by how much it can be off."""

    mean_ns: float
    margin_ns: float


@dataclass(frozen=True)
class Group:
    """Commands of one operation and size."""

    data: dict[str, Any]

    @property
    def commands(self) -> int:
        return int(self.data["commands"])

    @property
    def sampled(self) -> int:
        return int(self.data["sampled"])

    @property
    def joined(self) -> int:
        return int(self.data["joined"])

    @property
    def mean_ns(self) -> float:
        return float(self.data["latency"]["mean_ns"])

    @property
    def stages(self) -> dict[str, float]:
        """Mean time of each stage, ns."""
        return {stage["id"]: float(stage["mean_ns"]) for stage in self.data["stages"]}

    @property
    def stages_p50(self) -> dict[str, float]:
        """Median time of each stage, ns: what a few commands met does not move it."""
        return {stage["id"]: float(stage["p50_ns"]) for stage in self.data["stages"]}

    def component(self, stage: str, id_: str) -> Component:
        """A part of a stage; AssertionError when it is not known."""
        parts = next(s["components"] for s in self.data["stages"] if s["id"] == stage)
        for part in parts:
            if part["id"] == id_:
                assert part["mean_ns"] is not None, f"{id_}: {part['mean_ns_reason']}"
                return Component(float(part["mean_ns"]), float(part.get("margin_ns", 0)))
        raise AssertionError(f"{stage} has no part {id_}; it has {', '.join(part['id'] for part in parts) or 'none'}")

    @property
    def largest(self) -> str:
        return str(self.data["largest"])


class Report:
    """All numbers of a session."""

    def __init__(self, data: dict[str, Any]) -> None:
        assert data["schema"] == "org.ntprof.report/1", data.get("schema")
        self.data = data

    @property
    def commands(self) -> int:
        return int(self.data["session"]["commands"])

    @property
    def sampled(self) -> int:
        return int(self.data["session"]["sampled"])

    @property
    def seconds(self) -> float:
        return float(self.data["session"]["duration_ns"]) / 1e9

    @property
    def groups(self) -> list[Group]:
        return [Group(group) for group in self.data["groups"]]

    @property
    def joined(self) -> int:
        return sum(group.joined for group in self.groups if not group.data["part_of_other"])

    @property
    def losses(self) -> dict[str, int]:
        """Causes that occurred, of sampled commands."""
        return {key: int(n) for key, n in self.data["losses"].items() if n and key not in _BESIDE}

    @property
    def beside(self) -> dict[str, int]:
        """Causes that occurred, of what was not sampled or not measured."""
        return {key: int(n) for key, n in self.data["losses"].items() if n and key in _BESIDE}

    @property
    def skipped(self) -> int:
        """Runs of programs that the kernel skipped: one was already running on that CPU."""
        return sum(n for key, n in self.beside.items() if key.endswith("_recursion"))

    @property
    def unexplained(self) -> dict[str, int]:
        """Losses of sampled commands, but for what skipped runs of programs explain."""
        return {} if sum(self.losses.values()) <= self.skipped else self.losses

    @property
    def warnings(self) -> list[str]:
        return list(self.data["warnings"])

    def by_path(self, kind: Kind) -> dict[str, Group]:
        """The tables of joined commands of a kind, by the target's address of the path."""
        return {str(self.data["paths"][data["path"]]["traddr"]): Group(data) for data in self.data["groups_by_path"]
                if data["op"] == kind.op and data["size_bytes"] == kind.size and data["with_target"]}

    def find(self, kind: Kind, with_target: bool = True) -> Group | None:
        for group in self.groups:
            data = group.data
            if data["op"] == kind.op and (data["size_bytes"] or 0) == kind.size and data["with_target"] == with_target:
                return group
        return None

    def group(self, kind: Kind) -> Group:
        """The table of joined commands of a kind."""
        found = self.find(kind)
        if found is None:
            have = ", ".join(f"{g.data['op']} {g.data['size_bytes']}" for g in self.groups) or "none"
            raise AssertionError(f"the report has no table of joined {kind.name}; it has {have}; "
                                 f"losses {self.losses}, warnings {self.warnings}")
        return found
