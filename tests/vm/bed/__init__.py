# SPDX-License-Identifier: GPL-2.0-or-later
"""The test bed: NVMe-oF host and target in virtual machines on stock Debian kernels (see README.md)."""

from .bed import BED_NQN, BOTH_NQN, OTHER_NQN, SLOW_NQN, Bed
from .errors import BedError, CommandTimeout, MachineEnded
from .layout import HOST_ADDRESS, TARGET2_ADDRESS, TARGET_ADDRESS
from .machine import CommandFailed, Machine, Result, Running

__all__ = ["BED_NQN", "BOTH_NQN", "HOST_ADDRESS", "OTHER_NQN", "SLOW_NQN", "TARGET2_ADDRESS", "TARGET_ADDRESS", "Bed",
           "BedError", "CommandFailed", "CommandTimeout", "Machine", "MachineEnded", "Result", "Running"]
