# SPDX-License-Identifier: GPL-2.0-or-later
"""Let a machine with icount run only while somebody uses it.

Its time is virtual: an idle guest's clock leaps from timer to timer, which takes a whole core for as long as it is up.
So it stands still (stopped by QMP) unless a command runs in it. Users hold a shared lock, which ends with their
process; who lets go and gets the exclusive one was the last.
"""

from __future__ import annotations

import contextlib
import fcntl

from . import qmp
from .errors import BedError
from .qemu import Process


class Awake:
    """Keeps the machine running until released. Machines without icount always run."""

    def __init__(self, process: Process) -> None:
        self._socket = process.qmp_socket
        self._file = None
        if not process.icount:
            return
        self._file = (process.folder / "awake.lock").open("w")
        try:
            fcntl.flock(self._file, fcntl.LOCK_SH)
            qmp.execute(self._socket, "cont")
        except (OSError, BedError):
            self._file.close()
            process.check_alive()
            raise

    def release(self) -> None:
        """May be called more than once."""
        file, self._file = self._file, None
        if file is None:
            return
        with file, contextlib.suppress(OSError, BedError):  # others use it, or it is gone
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            qmp.execute(self._socket, "stop")

    def __enter__(self) -> Awake:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
