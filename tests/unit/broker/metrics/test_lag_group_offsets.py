"""Committed offsets of coordinated groups and of groups in the metadata tree."""

from types import SimpleNamespace

import pytest

from barnabas.broker.metrics.lag import GroupOffsets
from barnabas.model.ids import TopicPartition
from barnabas.testing.virtual_clock import VirtualClock
from barnabas.zk import paths
from barnabas.zk.sqlite_tree import EmbeddedStore
from barnabas.zk.tree import ConnectionLossError
from barnabas.zk.znodes import encode_offset

ORDERS = [TopicPartition("orders", n) for n in range(30)]


class Services:
    """Broker 1, which coordinates the groups in `leads` if there is a topic of offsets."""

    broker_id = 1

    def __init__(self, committed=(), *, topic=True, leads=("mine",), controller=False):
        offsets = [
            (g, topic_partition, SimpleNamespace(offset=offset))
            for g, topic_partition, offset in committed
        ]
        shard = SimpleNamespace(committed_offsets=lambda: offsets)
        self.groups = SimpleNamespace(active_shards=lambda: [SimpleNamespace(shard=shard)])
        self.internal_topics = SimpleNamespace(
            exists=lambda _: topic, partition_of=lambda _topic, group: group
        )
        self.metadata = SimpleNamespace(
            partition=lambda group: SimpleNamespace(leader=1 if group in leads else 2)
        )
        self.cluster = SimpleNamespace(controller=SimpleNamespace(is_active=controller))


@pytest.fixture
async def tree():
    store = EmbeddedStore(VirtualClock())
    yield store.session()
    await store.close()


async def put(tree, group, topic_partition, data):
    path = paths.consumer_offset(group, topic_partition)
    await tree.ensure_path(path)
    await tree.set(path, data)


async def read(services, tree):
    found = await GroupOffsets(services, tree).read()
    return {(item.group, item.topic_partition): item.offset for item in found}


async def test_groups_of_the_tree_belong_to_one_broker(tree):
    for topic_partition in ORDERS:
        await put(tree, "mine", topic_partition, encode_offset(7))
        await put(tree, "other", topic_partition, encode_offset(8))
    assert await read(Services(), tree) == {
        ("mine", topic_partition): 7 for topic_partition in ORDERS
    }
    assert await read(Services(topic=False), tree) == {}
    alone = await read(Services(topic=False, controller=True), tree)
    assert {group for group, _ in alone} == {"mine", "other"}


async def test_the_higher_offset_counts_during_a_migration(tree):
    await put(tree, "mine", ORDERS[0], encode_offset(7))
    await put(tree, "mine", ORDERS[1], encode_offset(7))
    services = Services([("mine", ORDERS[0], 9), ("mine", ORDERS[1], 5), ("kafka", ORDERS[0], 1)])
    assert await read(services, tree) == {
        ("mine", ORDERS[0]): 9,
        ("mine", ORDERS[1]): 7,
        ("kafka", ORDERS[0]): 1,
    }


async def test_nodes_that_are_no_offsets_are_left_out(tree):
    await put(tree, "mine", ORDERS[0], b"not a number")
    await tree.ensure_path(paths.consumer_offsets("mine") + "/orders/one")
    assert await read(Services(), tree) == {}


async def test_the_last_known_offsets_while_the_tree_fails(tree, monkeypatch):
    await put(tree, "mine", ORDERS[0], encode_offset(7))
    offsets = GroupOffsets(Services(), tree)
    before = await offsets.read()

    async def fail(path, watch=None):
        raise ConnectionLossError

    monkeypatch.setattr(type(tree), "children", lambda self, path, watch=None: fail(path))
    assert await offsets.read() == before != []
