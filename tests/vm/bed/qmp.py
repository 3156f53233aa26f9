# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU's machine protocol, for what no guest can do to itself (slow drives, pauses)."""

from __future__ import annotations

import fcntl
import json
import socket
from pathlib import Path
from typing import Any

from .errors import BedError


def execute(path: Path, command: str, **arguments: Any) -> Any:
    """Run one QMP command and return its result. Use _ for - in argument names."""
    with path.with_name(path.name + ".lock").open("w") as lock, socket.socket(socket.AF_UNIX) as connection:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the socket serves one client at a time
        connection.settimeout(60)
        connection.connect(str(path))
        with connection.makefile("rwb") as stream:
            stream.readline()  # greeting
            own = {key.replace("_", "-"): value for key, value in arguments.items()}
            requests: list[tuple[str, dict[str, Any]]] = [("qmp_capabilities", {}), (command, own)]
            for name, values in requests:
                request = {"execute": name, "arguments": values}
                stream.write(json.dumps(request).encode() + b"\n")
                stream.flush()
                while True:
                    line = stream.readline()
                    if not line:
                        raise BedError(f"QMP {name}: connection closed")
                    answer = json.loads(line)
                    if "error" in answer:
                        raise BedError(f"QMP {name}: {answer['error']['desc']}")
                    if "return" in answer:
                        break
            return answer["return"]
