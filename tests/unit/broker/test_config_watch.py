"""ConfigWatch: reads everything once, then what notifications name."""

import asyncio

import pytest

from barnabas.broker.config import BrokerConfig
from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.config_watch import ConfigWatch
from barnabas.controller.registration import ensure_roots
from barnabas.controller.topic_admin import TopicAdmin
from barnabas.model.ids import BrokerId
from barnabas.testing.virtual_clock import VirtualClock
from barnabas.zk import paths
from barnabas.zk.sqlite_tree import EmbeddedStore


class World:
    def __init__(self, store, clock):
        self.tree = store.session()
        self.clock = clock
        self.admin = TopicAdmin(store.session())
        self.layers = ConfigLayers(BrokerConfig.parse({}))
        self.changes = []
        self.watch = ConfigWatch(self.tree, self.layers, BrokerId(1), self.changes.append)

    async def settle(self, count):
        for _ in range(200):
            if len(self.changes) >= count:
                return
            await asyncio.sleep(0.001)
        raise AssertionError(self.changes)


@pytest.fixture
async def world():
    clock = VirtualClock()
    store = EmbeddedStore(clock)
    await ensure_roots(store.session())
    made = World(store, clock)
    yield made
    await made.watch.stop()
    await store.close()


async def test_existing_settings_are_read_at_start(world):
    await world.admin.change_config("topics", "t", {"retention.ms": "5"})
    await world.admin.change_config("brokers", "1", {"num.partitions": "7"})
    await world.admin.change_config("brokers", "<default>", {"message.max.bytes": "9"})
    await world.watch.load()
    assert world.layers.topic_value("t", "retention.ms") == 5
    assert world.layers.broker_value("num.partitions") == 7
    assert world.layers.broker_value("message.max.bytes") == 9
    world.watch.start()
    await asyncio.sleep(0.01)  # time for what must not happen
    assert world.changes == []


async def test_changes_are_followed_in_order(world):
    await world.watch.load()
    world.watch.start()
    await world.admin.change_config("topics", "t", {"retention.ms": "5"})
    await world.admin.change_config("brokers", "2", {"num.partitions": "7"})
    await world.admin.change_config("brokers", "<default>", {"num.partitions": "8"})
    await world.settle(2)
    assert world.changes == ["t", None]
    assert world.layers.broker_value("num.partitions") == 8
    await world.admin.change_config("topics", "t", {})
    await world.settle(3)
    assert world.layers.topic_overrides("t") == {}


async def test_a_broken_notification_is_skipped(world, caplog):
    await world.watch.load()
    world.watch.start()
    await world.tree.create(paths.CONFIG_CHANGE_PREFIX, b"nonsense", sequential=True)
    await world.admin.change_config("topics", "t", {"retention.ms": "5"})
    await world.settle(1)
    assert "is ignored" in caplog.text


async def test_old_notifications_are_removed(world):
    await world.admin.change_config("topics", "t", {"retention.ms": "5"})
    world.clock.advance(16 * 60 * 1000)
    await world.admin.change_config("topics", "t", {"retention.ms": "6"})
    await world.watch.purge_notifications(world.clock.now_ms())
    assert len(await world.tree.children(paths.CONFIG_CHANGES)) == 1


async def test_a_deleted_topic_is_not_a_change_of_its_settings(world):
    """A change is applied to each log of the topic; those of a deleted topic are removed."""
    deleted = []
    watch = ConfigWatch(
        world.tree, world.layers, BrokerId(1), world.changes.append, on_deleted=deleted.append
    )
    world.layers.set_topic("t", {"retention.ms": "5"})
    watch.forget_topic("t")
    assert (world.changes, deleted) == ([], ["t"])
    assert world.layers.topic_overrides("t") == {}
