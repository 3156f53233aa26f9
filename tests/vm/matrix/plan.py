# SPDX-License-Identifier: GPL-2.0-or-later
"""The cells of the matrix: kinds of commands, transports, injections, and the rows of the report that are right."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

from support import fio
from support.fio import READ_4K, WRITE_4K, WRITE_64K, Kind

FLUSH = Kind("flush", "flush", 0, "flush")
KINDS = (READ_4K, WRITE_4K, WRITE_64K, FLUSH)
TRANSPORTS = ("tcp", "rdma")

_NAMES = {READ_4K: "read 4 KiB", WRITE_4K: "write 4 KiB, in the capsule", WRITE_64K: "write 64 KiB, fetched",
          FLUSH: "flush"}

QUICK, WORK, SLOW, MANY, FEW = "quick", "work", "slow", "many", "few"
DRIVES = {QUICK: 20_000_000, WORK: 60_000_000, SLOW: 320_000_000, MANY: 400_000_000, FEW: 400_000_000}
"""The drives, and the nanoseconds they take for each command. Of few the host has as few tags as it can. None is fast: a
machine that slept before takes longer than one that did not, and most of what is injected lets both machines sleep."""
FEW_TAGS = 16
"""The smallest queue the kernel's host makes: 15 commands at a time."""


@dataclass(frozen=True)
class Load:
    """How a kind of command is issued: one at a time."""

    count: int
    think_us: int = 0
    """The pause between two commands."""
    readers: int = 0
    """How many others read meanwhile, in another size, each one command at a time."""
    real_time: bool = True
    """Whether it goes before the burner, which goes before all others. If not, who issues commands waits for the processor
    before and after them, too, so how long they took is asked of the kernel's diskstats."""

    def brief(self) -> Load:
        """Half as many commands."""
        return replace(self, count=self.count // 2)


_ONE = Load(12)
_PAUSING = Load(10, think_us=70_000)
_PAUSING_BELOW = Load(10, think_us=70_000, real_time=False)
# The pauses: without one, who just had a tag would take it again, before those who wait for one have been woken. So many
# readers that the wait is longer than what the drive takes; and they are not measured: what they all do at once they wait for.
_CROWDED = Load(8, think_us=20_000, readers=47)


@dataclass(frozen=True)
class Injection:
    """One way to make commands slow."""

    name: str
    title: str
    drive: str
    base_drive: str
    load: Load

    def right(self, kind: Kind, transport: str) -> tuple[str, ...]:
        """The rows that must have it, as STAGE or STAGE.COMPONENT."""
        rows = _RIGHT[self.name]
        found = rows["all"]
        if kind.r2t:
            found += rows.get("fetched", ()) + rows.get(f"fetched {transport}", ())
        if kind is FLUSH:
            found += rows.get("flush", ()) + rows.get(f"flush {transport}", ())
        return found


DRIVE = Injection("drive", "a drive of 320 ms, not 20", SLOW, QUICK, _ONE)
TO_TARGET = Injection("to target", "150 ms on what leaves the host", QUICK, QUICK, _ONE)
TO_HOST = Injection("to host", "150 ms on what leaves the target", QUICK, QUICK, _ONE)
TARGET_CPU = Injection("target CPU", "the target's CPU taken in bursts of 300 ms", WORK, WORK, _PAUSING)
HOST_CPU = Injection("host CPU", "the host's CPU taken (TCP: in bursts of 300 ms; RDMA: 400 ms where a command is submitted)",
                     WORK, WORK, _PAUSING_BELOW)
FEW_TAGS_ = Injection("few tags", "15 tags for 48 readers, not 127", FEW, MANY, _CROWDED)
RECEIVE = Injection("slow receive", "the host's receiving held up (TCP: its threads, by bursts of 300 ms; RDMA: its interrupt, "
                    "for 400 ms)", WORK, WORK, _PAUSING)
INJECTIONS = (DRIVE, TO_TARGET, TO_HOST, TARGET_CPU, HOST_CPU, FEW_TAGS_, RECEIVE)

# A fetched write crosses each way twice: the command and the data, what asks for them (R2T, RDMA READ request) and the
# response. Of a flush the kernel's block layer leaves the dispatching to a kernel thread, on the host and on the target
# (blk-flush.c, the requeue list's work): so what holds up kernel threads holds that up, too.
_RIGHT: dict[str, dict[str, tuple[str, ...]]] = {
    "drive": {"all": ("storage.drive",)},
    "to target": {"all": ("network.request_wire",), "fetched": ("network.transfer_wire",)},
    "to host": {"all": ("network.response_wire",), "fetched": ("network.transfer_wire",)},
    "target CPU": {"all": ("target_driver", "network.target_receive"), "fetched": ("network.transfer_target_receive",),
                   "flush": ("storage.target_block",)},
    "host CPU": {"all": ("host_block", "host_driver", "network.host_receive"),
                 "fetched tcp": ("network.transfer_host_receive",)},
    "few tags": {"all": ("host_block.tag_wait",)},
    "slow receive": {"all": ("network.host_receive",), "fetched tcp": ("network.transfer_host_receive",),
                     "flush tcp": ("host_block.dispatch",)},
}


@dataclass(frozen=True)
class Cell:
    transport: str
    injection: Injection
    kind: Kind

    @property
    def kind_name(self) -> str:
        return _NAMES[self.kind]

    @property
    def name(self) -> str:
        return f"{self.transport}, {self.injection.name}: {self.kind_name}"

    @property
    def right(self) -> tuple[str, ...]:
        return self.injection.right(self.kind, self.transport)


def all_cells() -> list[Cell]:
    return [Cell(transport, injection, kind) for transport, injection, kind in product(TRANSPORTS, INJECTIONS, KINDS)]


def half() -> list[Cell]:
    """Half of them: each injection with each transport, each kind with each injection."""
    kinds = {"tcp": (READ_4K, WRITE_64K), "rdma": (WRITE_4K, FLUSH)}
    return [cell for cell in all_cells() if cell.kind in kinds[cell.transport]]


SECTION = 4 * fio.MIB
"""What the loads use of the drives."""
