# SPDX-License-Identifier: GPL-2.0-or-later
"""What can go wrong with a bed, as one family of exceptions."""


class BedError(Exception):
    """The bed cannot do what was asked; the message says what, on what and why."""


class MachineEnded(BedError):
    """The virtual machine is gone (panic, power-off); the message holds its last console lines."""


class CommandTimeout(BedError):
    """A command in the guest ran longer than its limit and was killed there."""
