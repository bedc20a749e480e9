"""Offsets expire by the clock of the broker, and only those of empty groups (KIP-211)."""

import pytest
from support.groups.requests import SMALL, alone, commit, committed, find_coordinator, leave
from support.network.requests import create_topic
from support.wire.peer import WirePeer

from barnabas.broker.app import Broker
from barnabas.broker.config import BrokerConfig
from barnabas.runtime.clock import SystemClock
from barnabas.wire.messages.list_groups import ListGroupsRequest

pytestmark = pytest.mark.integration
MINUTE_MS = 60_000


class ShiftedClock(SystemClock):
    """The machine's clock, which a test may set forward."""

    __slots__ = ("elapsed_ms", "wall_ms")

    def __init__(self):
        self.elapsed_ms = self.wall_ms = 0

    def now_ms(self):
        return super().now_ms() + self.elapsed_ms + self.wall_ms

    def monotonic_ms(self):
        return super().monotonic_ms() + self.elapsed_ms


@pytest.fixture
async def world(tmp_path):
    clock = ShiftedClock()
    settings = {
        **SMALL,
        "listeners": "PLAINTEXT://127.0.0.1:0",
        "log.dirs": str(tmp_path),
        "offsets.retention.minutes": 10,
    }
    broker = Broker(BrokerConfig.parse(settings), clock=clock)
    await broker.start()
    peer = await WirePeer.connect(broker.port)
    await find_coordinator(peer, "g")
    await create_topic(peer, "t")

    class World:
        def pass_minutes(self, minutes):
            clock.elapsed_ms += minutes * MINUTE_MS
            broker.services.groups.expire()

        def set_wall_clock(self, minutes):
            clock.wall_ms += minutes * MINUTE_MS
            broker.services.groups.expire()

        async def offset(self, group):
            return (await committed(peer, "t", group=group)).committed_offset

        async def groups(self):
            listed = await peer.call(ListGroupsRequest(), 4)
            return {one.group_id for one in listed.groups}

    World.peer = peer
    yield World()
    await peer.close()
    await broker.stop()


async def test_simple_group_expires_after_its_last_commit(world):
    await commit(world.peer, "t", 1, group="simple")
    world.pass_minutes(9)
    await commit(world.peer, "t", 2, group="simple")
    world.pass_minutes(9)
    assert await world.offset("simple") == 2
    world.pass_minutes(1)
    assert await world.offset("simple") == -1
    assert await world.groups() == set()


async def test_live_group_keeps_its_offsets(world):
    member, generation = await alone(world.peer)
    fields = {"member_id": member, "generation_id_or_member_epoch": generation}
    await commit(world.peer, "t", 1, **fields)
    world.pass_minutes(1000)
    assert await world.offset("g") == 1
    await leave(world.peer, member)
    world.pass_minutes(9)
    assert await world.offset("g") == 1, "the time runs from when it became empty"
    world.pass_minutes(2)
    assert await world.offset("g") == -1


async def test_wall_clock_expires_nothing(world):
    await commit(world.peer, "t", 1, group="simple")
    world.set_wall_clock(60 * 24 * 365)
    assert await world.offset("simple") == 1
    world.set_wall_clock(-60 * 24 * 365 * 2)
    assert await world.offset("simple") == 1
