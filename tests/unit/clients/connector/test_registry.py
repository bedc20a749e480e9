"""The group's nodes: contents, conflicts, what dead sessions leave behind."""

import asyncio

import pytest
from support.clients.connector_world import put_broker, put_topic

from barnabas.clients.connector import registry as registry_module
from barnabas.clients.connector.assignors import ConsumerThreadId
from barnabas.clients.connector.offset_storage import ZooKeeperOffsets
from barnabas.clients.connector.registry import GroupRegistry, OwnershipConflictError
from barnabas.clients.connector.topic_count import (
    StaticTopicCount,
    Whitelist,
    WildcardTopicCount,
)
from barnabas.model.ids import TopicPartition
from barnabas.model.records import OffsetAndMetadata
from barnabas.testing.virtual_clock import VirtualClock
from barnabas.zk.sqlite_tree import EmbeddedStore
from barnabas.zk.tree import NodeExistsError, SessionLostError


@pytest.fixture
async def store():
    made = EmbeddedStore(VirtualClock())
    yield made
    await made.close()


@pytest.fixture
def registry(store):
    return GroupRegistry(store.session(), "g", "g_C1")


def topic_partition(partition, topic="t"):
    return TopicPartition(topic, partition)


def threads(consumer, *partitions):
    return {topic_partition(p): ConsumerThreadId(consumer, 0) for p in partitions}


async def test_a_registration_is_an_ephemeral_node(registry):
    await registry.register(StaticTopicCount({"t": 2}).node(5), 0)
    data, stat = await registry.tree.get("/consumers/g/ids/g_C1")
    assert data == b'{"version":1,"subscription":{"t":2},"pattern":"static","timestamp":"5"}'
    assert stat.ephemeral_owner == registry.tree.session_id


async def test_a_living_namesake_is_a_conflict(store, registry):
    node = StaticTopicCount({"t": 1}).node(0)
    await registry.register(node, 0)
    with pytest.raises(NodeExistsError):
        await GroupRegistry(store.session(), "g", "g_C1").register(node, 0)


async def test_our_dead_sessions_registration_is_replaced(store, registry):
    node = StaticTopicCount({"t": 1}).node(0)
    await registry.register(node, 0)
    heir = GroupRegistry(store.session(), "g", "g_C1")
    heir.former_sessions.add(registry.tree.session_id)
    await heir.register(node, 0)
    _, stat = await heir.tree.get("/consumers/g/ids/g_C1")
    assert stat.ephemeral_owner == heir.tree.session_id


async def test_owners_are_ephemeral_nodes_with_thread_ids(registry):
    await registry.claim(threads("g_C1", 3))
    data, stat = await registry.tree.get("/consumers/g/owners/t/3")
    assert data == b"g_C1-0"
    assert stat.ephemeral_owner == registry.tree.session_id


async def test_a_claim_is_all_or_nothing(store, registry, monkeypatch):
    monkeypatch.setattr(registry_module, "OPS_PER_MULTI", 2)
    other = GroupRegistry(store.session(), "g", "g_C2")
    await other.claim(threads("g_C2", 3))
    with pytest.raises(OwnershipConflictError) as raised:
        await registry.claim(threads("g_C1", 0, 1, 2, 3))
    assert raised.value.path == "/consumers/g/owners/t/3"
    assert await registry.tree.children("/consumers/g/owners/t") == ["3"]


async def test_partitions_of_a_former_session_are_claimed(store, registry):
    await registry.claim(threads("g_C1", 0, 1))
    heir = GroupRegistry(store.session(), "g", "g_C1")
    with pytest.raises(OwnershipConflictError):
        await heir.claim(threads("g_C1", 0, 1))
    heir.former_sessions.add(registry.tree.session_id)
    await heir.claim(threads("g_C1", 0, 1))
    _, stat = await heir.tree.get("/consumers/g/owners/t/1")
    assert stat.ephemeral_owner == heir.tree.session_id


async def test_a_partition_that_another_consumer_claims_meanwhile_is_not_taken(store, registry):
    """The node of the former session expires before it is deleted; the new one stays."""
    await registry.claim(threads("g_C1", 0))
    heir, other = (GroupRegistry(store.session(), "g", name) for name in ("g_C1", "g_C2"))
    heir.former_sessions.add(registry.tree.session_id)
    exists = heir.tree.exists

    async def expire_after(path, *arguments):
        found = await exists(path, *arguments)
        if path.endswith("/t/0"):
            heir.tree.exists = exists
            await registry.tree.close()
            await other.claim(threads("g_C2", 0))
        return found

    heir.tree.exists = expire_after
    with pytest.raises(OwnershipConflictError):
        await heir.claim(threads("g_C1", 0))
    data, _ = await heir.tree.get("/consumers/g/owners/t/0")
    assert data == b"g_C2-0"


async def test_releasing_leaves_anothers_nodes_alone(store, registry):
    other = GroupRegistry(store.session(), "g", "g_C2")
    await other.claim(threads("g_C2", 0))
    await registry.claim(threads("g_C1", 1))
    await registry.release_ours([topic_partition(0), topic_partition(1), topic_partition(2)])
    assert await registry.tree.children("/consumers/g/owners/t") == ["0"]


async def test_the_view_has_members_topics_and_partitions(store, registry):
    await put_topic(registry.tree, "orders", 3)
    await put_topic(registry.tree, "other", 1)
    await registry.register(WildcardTopicCount(Whitelist("or.*"), 2).node(0), 0)
    other = GroupRegistry(store.session(), "g", "g_C2")
    await other.register(StaticTopicCount({"missing": 1}).node(0), 0)
    view = await registry.view(True)
    assert sorted(view.members) == ["g_C1", "g_C2"]
    assert view.topics == {"orders", "other"}
    assert view.partitions == {"orders": (0, 1, 2)}


@pytest.mark.parametrize("change", ["member", "growth", "creation"])
async def test_every_part_of_the_view_is_watched(store, registry, change):
    await put_topic(registry.tree, "t", 1)
    await registry.register(WildcardTopicCount(Whitelist("t.*"), 1).node(0), 0)
    fired = []
    await registry.view(True, fired.append)
    if change == "member":
        other = GroupRegistry(store.session(), "g", "g_C2")
        await other.register(StaticTopicCount({"t": 1}).node(0), 0)
    elif change == "growth":
        await put_topic(registry.tree, "t", 2)
    else:
        await put_topic(registry.tree, "t2", 1)
    assert await later(fired)


async def later(fired):
    for _ in range(10):
        await asyncio.sleep(0)
    return bool(fired)


async def test_a_topic_that_is_missing_is_watched_for(registry):
    await registry.register(StaticTopicCount({"t": 1}).node(0), 0)
    fired = []
    assert (await registry.view(True, fired.append)).partitions == {}
    await put_topic(registry.tree, "t", 1)
    assert await later(fired)


async def test_brokers_by_id(registry):
    assert await registry.brokers() == {}
    await put_broker(registry.tree, 3, "192.168.48.153", 9092)
    [(broker_id, node)] = (await registry.brokers()).items()
    assert (broker_id, node.endpoints[0].port) == (3, 9092)


async def test_a_consumer_without_its_registration_writes_nothing(store, registry):
    await registry.register(StaticTopicCount({"t": 1}).node(0), 0)
    await registry.claim(threads("g_C1", 0))
    offsets = ZooKeeperOffsets(registry)
    await offsets.commit({topic_partition(0): OffsetAndMetadata(5)})
    await store.session().delete("/consumers/g/ids/g_C1")
    with pytest.raises(SessionLostError):
        await offsets.commit({topic_partition(0): OffsetAndMetadata(6)})
    with pytest.raises(SessionLostError):
        await registry.release([topic_partition(0)])
    with pytest.raises(SessionLostError):
        await registry.claim(threads("g_C1", 1))
    assert (await registry.tree.get("/consumers/g/offsets/t/0"))[0] == b"5"
    assert await registry.tree.children("/consumers/g/owners/t") == ["0"]


async def test_offsets_are_created_replaced_and_created_again(store, registry):
    offsets = ZooKeeperOffsets(registry)
    await ZooKeeperOffsets(GroupRegistry(store.session(), "g", "g_C2")).commit(
        {topic_partition(1): OffsetAndMetadata(1)}
    )
    wanted = {topic_partition(0): OffsetAndMetadata(7), topic_partition(1): OffsetAndMetadata(8)}
    await offsets.commit(wanted)
    await registry.tree.delete("/consumers/g/offsets/t/0")
    await offsets.commit(wanted)
    assert await offsets.fetch([topic_partition(0), topic_partition(1), topic_partition(2)]) == {
        topic_partition(0): 7,
        topic_partition(1): 8,
    }
    assert (await registry.tree.get("/consumers/g/offsets/t/0"))[0] == b"7"
    assert await offsets.topic_partitions() == [topic_partition(0), topic_partition(1)]
