# SPDX-License-Identifier: GPL-2.0-or-later
"""The frames of daemon/peer/wire.h over a socket, as the host's ntprofd would write and read them."""

from __future__ import annotations

import json
import socket
import struct
import time

THRESHOLD, RESUME, PAUSE = 1, 2, 3
FACTS, CHANGED, RECORDS, SYNC, ENDED = 16, 17, 18, 19, 20
ALL = 0xFFFFFFFF
FRAME = struct.Struct("<2I")
SYNC_BODY = struct.Struct("<4Q12Q")
RECORD_SIZE = 192
PATIENCE = 60.0     # s


class Stream:
    """One recording at a target. What came is kept."""

    def __init__(self, fd: int) -> None:
        self.socket = socket.socket(fileno=fd)
        self.buffer = b""
        self.ended_early = False
        self.facts: dict | None = None
        self.changed: list[tuple[int, int]] = []    # target_ns, threshold
        self.records: list[bytes] = []
        self.syncs: list[dict] = []
        self.ended: dict | None = None

    def close(self) -> None:
        self.socket.close()

    def send(self, kind: int, body: bytes = b"") -> None:
        self.socket.sendall(FRAME.pack(kind, len(body)) + body)

    def threshold(self, value: int) -> None:
        self.send(THRESHOLD, struct.pack("<2I", value, 0))

    def take(self, kind: int, body: bytes) -> None:
        if kind == FACTS:
            self.facts = json.loads(body)
        elif kind == CHANGED:
            self.changed.append(struct.unpack("<QI4x", body))
        elif kind == RECORDS:
            assert len(body) % RECORD_SIZE == 0 and body
            self.records += [body[i:i + RECORD_SIZE] for i in range(0, len(body), RECORD_SIZE)]
        elif kind == SYNC:
            target_ns, in_flight, recursion, link_full, *counters = SYNC_BODY.unpack(body)
            self.syncs.append({"target_ns": target_ns, "in_flight": in_flight, "recursion": recursion, "link_full": link_full,
                               "counters": counters})
        elif kind == ENDED:
            self.ended = json.loads(body)
        else:
            raise AssertionError(f"a frame of type {kind}")

    def receive(self, seconds: float) -> bool:
        """What comes within that time, at least once; False at the end of the stream."""
        self.socket.settimeout(seconds)
        try:
            data = self.socket.recv(1 << 16)
        except TimeoutError:
            return True
        except ConnectionError:
            data = b""
        if not data:
            self.ended_early = self.ended is None
            return False
        self.buffer += data
        at = 0
        while len(self.buffer) - at >= FRAME.size:
            kind, size = FRAME.unpack_from(self.buffer, at)
            if len(self.buffer) - at < FRAME.size + size:
                break
            self.take(kind, self.buffer[at + FRAME.size:at + FRAME.size + size])
            at += FRAME.size + size
        self.buffer = self.buffer[at:]
        return True

    def wait(self, done, what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not done():
            if time.monotonic() > deadline:
                raise AssertionError(f"timed out waiting for {what}")
            if not self.receive(0.2) and not done():
                raise AssertionError(f"the stream ended while waiting for {what}: {self.ended}")

    def wait_end(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while self.receive(0.2):
            assert time.monotonic() < deadline, "timed out waiting for the stream's end"

    def begin(self, threshold: int = ALL) -> None:
        self.wait(lambda: self.facts is not None, "WIRE_FACTS")
        self.threshold(threshold)
        self.send(RESUME)
        self.wait(lambda: bool(self.changed), "WIRE_CHANGED")

    def finish(self) -> None:
        self.send(PAUSE)
        self.wait_end()
