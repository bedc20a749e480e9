"""The nodes of topics and settings that any broker may write."""

import asyncio

import pytest

from barnabas.controller.registration import ensure_roots
from barnabas.controller.topic_admin import TopicAdmin, new_topic_id
from barnabas.model.errors import BrokerError
from barnabas.model.ids import ZERO_UUID, ReplicaAssignment
from barnabas.runtime.clock import SystemClock
from barnabas.zk import paths
from barnabas.zk import tree as tree_port
from barnabas.zk.config_znodes import ConfigChangeNode
from barnabas.zk.sqlite_tree import EmbeddedStore
from barnabas.zk.znodes import TopicNode


@pytest.fixture
async def tree():
    store = EmbeddedStore(SystemClock())
    tree = store.session()
    await ensure_roots(tree)
    yield tree
    await store.close()


@pytest.fixture
def admin(tree):
    return TopicAdmin(tree)


async def refused(attempt) -> str:
    with pytest.raises(BrokerError) as caught:
        await attempt
    return caught.value.code.name


async def test_topic_and_settings_appear_together(admin, tree):
    topic_id = await admin.create_topic("t", {0: (1, 2), 1: (2, 1)}, {"retention.ms": "5"})
    node = TopicNode.decode((await tree.get(paths.topic("t")))[0])
    assert node == TopicNode(topic_id, {0: ReplicaAssignment((1, 2)), 1: ReplicaAssignment((2, 1))})
    assert await admin.read_config("topics", "t") == {"retention.ms": "5"}


async def test_second_topic_of_a_name_changes_nothing(admin):
    await admin.create_topic("t", {0: (1,)}, {"a": "1"})
    assert await refused(admin.create_topic("t", {0: (2,)}, {"a": "2"})) == "TOPIC_ALREADY_EXISTS"
    assert await admin.read_config("topics", "t") == {"a": "1"}


async def test_of_several_at_once_one_wins(admin):
    attempts = (admin.create_topic("t", {0: (n,)}) for n in range(1, 6))
    results = await asyncio.gather(*attempts, return_exceptions=True)
    losers = [result for result in results if isinstance(result, BrokerError)]
    assert len(losers) == 4
    assert {error.code.name for error in losers} == {"TOPIC_ALREADY_EXISTS"}


async def test_settings_left_behind_by_an_earlier_topic_are_replaced(admin, tree):
    await tree.create(paths.config("topics", "t"), b'{"version":1,"config":{"old":"1"}}')
    await admin.create_topic("t", {0: (1,)}, {"new": "2"})
    assert await admin.read_config("topics", "t") == {"new": "2"}


@pytest.mark.parametrize(
    ("name", "assignment", "code"),
    [
        ("..", {0: (1,)}, "INVALID_TOPIC_EXCEPTION"),
        ("a/b", {0: (1,)}, "INVALID_TOPIC_EXCEPTION"),
        ("t", {}, "INVALID_PARTITIONS"),
        ("t", {1: (1,)}, "INVALID_REPLICA_ASSIGNMENT"),
        ("t", {0: ()}, "INVALID_REPLICA_ASSIGNMENT"),
        ("t", {0: (1, 1)}, "INVALID_REPLICA_ASSIGNMENT"),
        ("t", {0: (-1,)}, "INVALID_REPLICA_ASSIGNMENT"),
        ("t", {0: (1,), 1: (1, 2)}, "INVALID_REPLICA_ASSIGNMENT"),
    ],
)
async def test_invalid_topics_are_rejected(admin, tree, name, assignment, code):
    assert await refused(admin.create_topic(name, assignment)) == code
    assert await tree.children(paths.BROKER_TOPICS) == []


async def test_topic_too_large_for_one_node_is_rejected(admin, monkeypatch):
    monkeypatch.setattr(tree_port, "MAX_NODE_BYTES", 200)
    many = dict.fromkeys(range(20), (1, 2, 3))
    assert await refused(admin.create_topic("t", many)) == "INVALID_PARTITIONS"
    await admin.create_topic("t", {0: (1, 2, 3)})
    more = dict.fromkeys(range(1, 20), (1, 2, 3))
    assert await refused(admin.add_partitions("t", more)) == "INVALID_PARTITIONS"


async def test_partitions_are_added_at_the_end(admin):
    topic_id = await admin.create_topic("t", {0: (1,)})
    await admin.add_partitions("t", {1: (2,), 2: (1,)})
    assert sorted(await admin.partitions_of("t")) == [0, 1, 2]
    assert await refused(admin.add_partitions("t", {2: (1,)})) == "INVALID_PARTITIONS"
    assert await refused(admin.add_partitions("t", {4: (1,)})) == "INVALID_PARTITIONS"
    assert await refused(admin.add_partitions("t", {})) == "INVALID_PARTITIONS"
    assert await refused(admin.add_partitions("t", {3: (1, 1)})) == "INVALID_REPLICA_ASSIGNMENT"
    missing = await refused(admin.add_partitions("no", {0: (1,)}))
    assert missing == "UNKNOWN_TOPIC_OR_PARTITION"
    assert topic_id != ZERO_UUID


async def test_no_growth_during_a_reassignment(admin, tree):
    node = TopicNode(new_topic_id(), {0: ReplicaAssignment((2, 1), (2,), (1,))})
    await tree.create(paths.topic("t"), node.encode())
    assert await refused(admin.add_partitions("t", {1: (1,)})) == "REASSIGNMENT_IN_PROGRESS"


async def test_deletion_is_a_mark(admin, tree):
    await admin.create_topic("t", {0: (1,)})
    await admin.delete_topic("t")
    await admin.delete_topic("t")
    assert await tree.children(paths.DELETE_TOPICS) == ["t"]
    assert await refused(admin.delete_topic("no")) == "UNKNOWN_TOPIC_OR_PARTITION"


async def test_changed_settings_notify_in_the_same_step(admin, tree):
    await admin.change_config("topics", "t", {"a": "1"})
    await admin.change_config("topics", "t", {"b": "2"})
    assert await admin.read_config("topics", "t") == {"b": "2"}
    notices = await tree.children(paths.CONFIG_CHANGES)
    assert notices == ["config_change_0000000000", "config_change_0000000001"]
    data, _ = await tree.get(f"{paths.CONFIG_CHANGES}/{notices[0]}")
    assert ConfigChangeNode.decode(data).entity_path == "topics/t"


async def test_nested_and_default_entities(admin):
    entity = paths.user_client_entity("alice", "etl")
    await admin.change_entity(entity, {"producer_byte_rate": "1"})
    await admin.change_config("brokers", "<default>", {"x": "y"})
    assert await admin.read_config("brokers", "<default>") == {"x": "y"}
    assert await admin.read_config("users", "alice") == {}


def test_topic_ids_are_never_reserved_ones():
    ids = {new_topic_id() for _ in range(300)}
    assert len(ids) == 300
    assert not any(str(topic_id).startswith("-") for topic_id in ids)
