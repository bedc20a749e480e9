"""The order of the steps of a rebalance, and failures of each step."""

import asyncio

import pytest
from support.clients.connector_world import put_broker, put_topic

from barnabas.clients.connector.offset_storage import ZooKeeperOffsets
from barnabas.clients.connector.rebalancer import (
    Committer,
    ConsumerRebalanceFailedError,
    ConsumerRebalanceListener,
    Rebalancer,
)
from barnabas.clients.connector.registry import GroupRegistry
from barnabas.clients.connector.settings import ConnectorSettings
from barnabas.clients.connector.stream import StreamMaker
from barnabas.clients.connector.topic_count import StaticTopicCount
from barnabas.model.errors import UnavailableError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import OffsetAndMetadata
from barnabas.testing.virtual_clock import VirtualClock
from barnabas.zk.sqlite_tree import EmbeddedStore
from barnabas.zk.tree import SessionLostError

TOPIC_PARTITION = TopicPartition("t", 0)


class Recorder:
    """Stands in for the fetchers, the offsets and the application, and writes down their steps."""

    def __init__(self):
        self.steps = []
        self.infos = []
        self.fail_fetch = 0

    def start_connections(self, infos):
        self.infos = list(infos)
        self.steps.append("start fetchers")

    async def stop_connections(self):
        self.steps.append("stop fetchers")


class RecordingStorage(ZooKeeperOffsets):
    def __init__(self, registry, recorder):
        super().__init__(registry)
        self.recorder = recorder

    async def fetch(self, topic_partitions):
        self.recorder.steps.append("read offsets")
        if self.recorder.fail_fetch:
            self.recorder.fail_fetch -= 1
            raise UnavailableError("no coordinator")
        return await super().fetch(topic_partitions)

    async def commit(self, offsets):
        self.recorder.steps.append("commit")
        await super().commit(offsets)


class RecordingRegistry(GroupRegistry):
    recorder = None

    async def claim(self, assignment):
        self.recorder.steps.append("claim")
        await super().claim(assignment)

    async def release(self, topic_partitions):
        topic_partitions = list(topic_partitions)
        if topic_partitions:
            self.recorder.steps.append("release")
        await super().release(topic_partitions)


class Member:
    """One consumer of group g without sockets."""

    def __init__(self, store, name, **options):
        config = {
            "zookeeper.connect": "embedded",
            "group.id": "g",
            "rebalance.backoff.ms": 20,
            "rebalance.max.retries": 2,
            "offsets.commit.max.retries": 0,
            **options,
        }
        settings = ConnectorSettings.parse(config)
        self.recorder = Recorder()
        self.tree = store.session()
        self.registry = RecordingRegistry(self.tree, "g", name)
        self.registry.recorder = self.recorder
        self.streams = StreamMaker(settings.streams, lambda: None).for_topics({"t": 1})
        committer = Committer(RecordingStorage(self.registry, self.recorder), settings.offsets)
        self.rebalancer = Rebalancer(
            self.registry, settings, self.recorder, committer, self.streams
        )

    async def join(self):
        await self.registry.register(StaticTopicCount({"t": 1}).node(0), 0)
        await self.rebalancer.run(retry_connection_loss=False)

    @property
    def owned(self):
        return sorted(
            topic_partition.partition for topic_partition in self.rebalancer.topic_registry
        )


@pytest.fixture
async def store():
    made = EmbeddedStore(VirtualClock())
    admin = made.session()
    await put_broker(admin, 0, "nowhere", 1)
    await put_topic(admin, "t", 3)
    yield made
    await made.close()


@pytest.fixture
def member(store):
    return Member(store, "g_C1")


async def test_the_steps_are_in_order(store, member):
    await member.join()
    assert member.owned == [0, 1, 2]
    member.rebalancer.topic_registry[TOPIC_PARTITION].consumed_offset = 7
    member.recorder.steps.clear()
    await put_topic(member.tree, "t", 4)
    await member.rebalancer.run(retry_connection_loss=False)
    assert member.recorder.steps == [
        "stop fetchers",
        "commit",
        "release",
        "read offsets",
        "claim",
        "read offsets",
        "start fetchers",
    ]
    assert (await member.tree.get("/consumers/g/offsets/t/0"))[0] == b"7"
    assert {info.topic_partition: info.fetch_offset for info in member.recorder.infos}[
        TOPIC_PARTITION
    ] == 7


async def test_a_view_that_has_not_changed_needs_no_rebalance(member):
    await member.join()
    member.recorder.steps.clear()
    await member.rebalancer.run(retry_connection_loss=False)
    assert member.recorder.steps == []
    assert member.rebalancer.completed == 1


async def test_a_released_partition_is_marked_as_revoked(store, member):
    await member.join()
    [old] = [info for info in member.recorder.infos if info.topic_partition == TOPIC_PARTITION]
    await put_topic(member.tree, "t", 4)
    await member.rebalancer.run(retry_connection_loss=False)
    assert old.revoked
    assert not member.rebalancer.topic_registry[TOPIC_PARTITION].revoked


async def test_a_claim_waits_for_the_owner_to_let_go(store, member):
    await member.join()
    other = Member(store, "g_C2", **{"rebalance.backoff.ms": 5000})
    joining = asyncio.create_task(other.join())
    while "claim" not in other.recorder.steps:
        await asyncio.sleep(0)
    await member.rebalancer.run(retry_connection_loss=False)
    async with asyncio.timeout(3):
        await joining
    assert (member.owned, other.owned) == ([0, 1], [2])


async def test_a_rebalance_that_cannot_succeed_fails_clearly(store, member):
    await member.join()
    other = Member(store, "g_C2")
    with pytest.raises(
        ConsumerRebalanceFailedError, match=r"g_C2 can't rebalance after \d attempts"
    ):
        await other.join()
    assert other.owned == []
    assert "start fetchers" not in other.recorder.steps


async def test_the_failure_names_its_cause(store):
    member = Member(store, "g_C1", **{"partition.assignment.strategy": "roundrobin"})
    node = StaticTopicCount({"t": 1, "u": 2}).node(0)
    await GroupRegistry(store.session(), "g", "g_C0").register(node, 0)
    with pytest.raises(ConsumerRebalanceFailedError, match="Round-robin assignment is allowed"):
        await member.join()


async def test_unreadable_offsets_are_tried_again_and_nothing_is_claimed_before(store, member):
    member.recorder.fail_fetch = 1
    await member.join()
    assert member.recorder.steps.index("claim") > member.recorder.steps.index("read offsets")
    assert member.recorder.steps.count("claim") == 1
    assert member.owned == [0, 1, 2]


async def test_offsets_committed_between_reading_and_claiming_are_seen(store, member):
    await member.join()
    other = Member(store, "g_C2")
    committed = ZooKeeperOffsets(GroupRegistry(store.session(), "g", "g_C9"))

    class Late(RecordingRegistry):
        async def claim(self, assignment):
            await committed.commit({TopicPartition("t", 2): OffsetAndMetadata(9)})
            await super().claim(assignment)

    other.registry.__class__ = Late
    await member.tree.close()
    await other.join()
    assert other.rebalancer.topic_registry[TopicPartition("t", 2)].fetch_offset == 9


async def test_no_broker_means_waiting_not_failing():
    store = EmbeddedStore(VirtualClock())
    admin = store.session()
    await put_topic(admin, "t", 1)
    await admin.ensure_path("/brokers/ids")
    member = Member(store, "g_C1")
    await member.join()
    assert member.recorder.steps == []
    await put_broker(admin, 0, "nowhere", 1)
    await member.rebalancer.changed.wait()
    await member.rebalancer.run(retry_connection_loss=False)
    assert member.owned == [0]
    await store.close()


async def test_a_lost_session_commits_nothing(member):
    await member.join()
    member.rebalancer.topic_registry[TOPIC_PARTITION].consumed_offset = 7
    await member.tree.expire(reconnect=False)
    with pytest.raises(SessionLostError):
        await member.rebalancer.run(retry_connection_loss=True)
    await member.rebalancer.abandon()
    assert member.owned == []
    assert "commit" not in member.recorder.steps


async def test_a_listener_that_fails_fails_the_attempt(member):
    class Angry(ConsumerRebalanceListener):
        def before_starting_fetchers(self, consumer_id, assignment):
            raise ValueError("no")

    member.rebalancer.listener = Angry()
    with pytest.raises(ConsumerRebalanceFailedError, match="listener failed"):
        await member.join()
    assert await member.tree.children("/consumers/g/owners/t") == []


async def test_partitions_of_the_current_session_are_claimed_again_after_a_late_loss(store, member):
    await member.join()
    await member.rebalancer.abandon()
    await Member(store, "g_C2").registry.register(StaticTopicCount({"t": 1}).node(0), 0)
    await member.rebalancer.run(retry_connection_loss=False)
    assert member.owned == [0, 1]
    assert await member.tree.children("/consumers/g/owners/t") == ["0", "1"]
