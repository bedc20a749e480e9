"""Sends hostile frames over many connections, pipelined, and counts the results.

Usage: python -m support.wire.hostile_sender PORT SEED FIRST COUNT
Prints one line of JSON. Every frame ends in one way:

- answered: a response arrived,
- refused: the broker closed the connection at this frame; the frames after it are sent again,
- silent: a later frame got a response, so this one requested none (acks=0),
- parked: no response within `PATIENCE_S` (a long poll, a rebalance, a frame with a wrong size);
  the sender continues with the next frame on another connection.
"""

import asyncio
import json
import struct
import sys
from collections import Counter, deque

from support.wire.hostile_frames import HostileFrames

CONNECTIONS = 48
PIPELINED = 10
PATIENCE_S = 0.4
_CONNECT_SECONDS = 30


class Connection(asyncio.Protocol):
    """One connection; `closed` is done when the broker has closed it or nothing is left to send.

    An object of its own: the end of an aborted connection is reported after the next one began.
    """

    def __init__(self, sender):
        self._sender = sender
        self._received = bytearray()
        self.closed = asyncio.get_running_loop().create_future()
        self.transport = None

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        if self.closed.done():
            return
        self._received += data
        while len(self._received) >= 8:
            size, correlation = struct.unpack_from(">ii", self._received)
            if len(self._received) < 4 + size:
                break
            del self._received[: 4 + size]
            self._sender.answered(correlation)
        self._sender.send_more(self)

    def eof_received(self):
        return False

    def connection_lost(self, _error):
        self.close()

    def close(self):
        if not self.closed.done():
            self.closed.set_result(None)


class Sender:
    """One connection at a time, which begins with the frames that the last one left over."""

    def __init__(self, port, numbers, frames, counts):
        self._port = port
        self._numbers = numbers
        self._frames = frames
        self._counts = counts
        self._outstanding = deque()
        """(number, frame); making a frame again would take longer than sending it."""
        self._progress = 0

    async def run(self):
        loop = asyncio.get_running_loop()
        while self._fill() or self._outstanding:
            transport, connection = await asyncio.wait_for(
                loop.create_connection(lambda: Connection(self), "127.0.0.1", self._port),
                _CONNECT_SECONDS,
            )
            self._counts["connections"] += 1
            transport.writelines([frame for _, frame in self._outstanding])
            await self._watch(connection)
            connection.close()
            transport.abort()

    async def _watch(self, connection):
        """Return when the connection is closed, parked, or has nothing more to send."""
        while self._outstanding:
            seen = self._progress
            await asyncio.wait((connection.closed,), timeout=PATIENCE_S)
            if connection.closed.done():
                self._count_first("refused")
                return
            if self._progress == seen:
                self._count_first("parked")
                return

    def _fill(self):
        """Make new frames until enough are outstanding; gives the new ones."""
        fresh = []
        while len(self._outstanding) < PIPELINED and self._numbers:
            number = self._numbers.popleft()
            fresh.append(self._frames.frame(number))
            self._outstanding.append((number, fresh[-1]))
        return fresh

    def _count_first(self, outcome):
        if self._outstanding:
            self._outstanding.popleft()
            self._counts[outcome] += 1
            self._progress += 1

    # -- called by the connection --------------------------------------------------------------

    def answered(self, correlation):
        numbers = [number for number, _ in self._outstanding]
        if correlation in numbers:
            for _ in range(numbers.index(correlation)):
                self._count_first("silent")
        self._count_first("answered")

    def send_more(self, connection):
        if len(self._outstanding) <= PIPELINED // 2:
            connection.transport.writelines(self._fill())
        if not self._outstanding:
            connection.close()


async def attack(port, seed, first, count):
    """Send these frames; gives the counts."""
    counts = Counter()
    numbers = deque(range(first, first + count))
    frames = HostileFrames(seed)
    senders = [Sender(port, numbers, frames, counts) for _ in range(CONNECTIONS)]
    await asyncio.gather(*(sender.run() for sender in senders))
    return counts


if __name__ == "__main__":
    print(json.dumps(asyncio.run(attack(*map(int, sys.argv[1:])))))
