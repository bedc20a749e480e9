"""With any timing of peer and handler, every request gets one response, in order."""

import asyncio
import contextlib
import struct

from hypothesis import given, settings
from hypothesis import strategies as st
from support.network.memory_stream import memory_pair

from barnabas.net.frame_reader import ConnectionLimits
from barnabas.net.listener import Listener
from barnabas.net.replies import PendingReply
from barnabas.testing.virtual_clock import VirtualClock

CAPACITIES = st.sampled_from([500, 3000, 20_000, 1 << 20])
KINDS = st.sampled_from(["now", "large", "wait", "pipelined", "silent"])
REQUESTS = st.lists(st.tuples(KINDS, st.integers(1, 3000)), min_size=1, max_size=30)


def frame(body):
    return struct.pack(">i", len(body)) + body


class World:
    """A handler that does what each request says, and a client that reads in sips."""

    def __init__(self, requests, capacity):
        self.requests = requests
        self.handled = 0
        self.waiting = []
        self.expected = b""
        self.received = bytearray()
        limits = ConnectionLimits(max_unsent_bytes=4000, max_pending_replies=4)
        self.listener = Listener(self.handle, clock=VirtualClock(), limits=limits)
        self.client, server = memory_pair(capacity)
        self.connection = self.listener.serve(server)

    def handle(self, connection, data):
        kind, size = self.requests[self.handled]
        assert bytes(data) == struct.pack(">h", self.handled) + bytes(size)
        answer = frame(b"%d" % self.handled + bytes(9000 if kind == "large" else 5))
        self.handled += 1
        if kind == "silent":
            return None
        self.expected += answer
        if kind in ("now", "large"):
            return [answer]
        pending = PendingReply(pipelined=kind == "pipelined")
        self.waiting.append((pending, answer))
        return pending

    def read(self, most):
        buffer = memoryview(bytearray(most))
        try:
            self.received += buffer[: self.client.recv_into(buffer)]
        except BlockingIOError:
            return

    def finish_one(self, index):
        if self.waiting:
            pending, answer = self.waiting.pop(index % len(self.waiting))
            pending.complete([answer])

    async def turns(self, count=3):
        for _ in range(count):
            await asyncio.sleep(0)


async def play(requests, cuts, capacity):
    world = World(requests, capacity)
    stream = b"".join(
        frame(struct.pack(">h", number) + bytes(size)) for number, (_, size) in enumerate(requests)
    )
    for step, cut in enumerate(cuts):
        try:
            sent = world.client.send([stream[:cut]], more=False)
        except BlockingIOError:
            sent = 0
        stream = stream[sent:]
        await world.turns()
        if step % 3 == 0:
            world.finish_one(step)
        if step % 2 == 0:
            world.read(cut * 2)
    for _ in range(600):
        with contextlib.suppress(BlockingIOError):
            stream = stream[world.client.send([stream], more=False) :] if stream else stream
        world.finish_one(1)
        world.read(5000)
        await world.turns()
        if world.handled == len(requests) and len(world.received) == len(world.expected):
            break
    assert world.handled == len(requests)
    assert bytes(world.received) == world.expected
    assert world.listener.budget.used == 0
    assert world.connection.idle
    world.connection.close()


@settings(max_examples=200, deadline=None)
@given(REQUESTS, st.lists(st.integers(1, 4000), max_size=40), CAPACITIES)
def test_every_request_gets_one_response_in_order(requests, cuts, capacity):
    asyncio.run(play(requests, cuts, capacity))
