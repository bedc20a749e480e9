"""The ZooKeeper high-level consumer: members on one embedded tree, data from a real broker."""

import re

import pytest
from support.clients.connector_world import Readers, drain, put_topic, running_world, wait_until

from barnabas.clients.connector import (
    Blacklist,
    ConsumerRebalanceListener,
    ConsumerTimeoutError,
    Direction,
    GroupReports,
    MessageStreamsExistError,
    OffsetMigration,
)
from barnabas.clients.core.exit_hooks import closed
from barnabas.model.errors import BrokerError, LocalError
from barnabas.model.ids import TopicPartition
from barnabas.zk.tree import NoNodeError

pytestmark = pytest.mark.integration


@pytest.fixture
def world():
    with running_world() as made:
        yield made


@pytest.fixture
def topic(broker, world, topic_name):
    broker.topic(topic_name, partitions=5)
    world.serve(broker, (topic_name, 5))
    return topic_name


def fill(broker, topic, partitions, count, first=0):
    for partition in range(partitions):
        values = [f"{partition}/{n}" for n in range(first, first + count)]
        broker.produce(topic, *values, partition=partition)


def test_one_consumer_reads_everything_and_the_next_goes_on(broker, world, topic):
    fill(broker, topic, 5, 20)
    with world.connector("C1") as connector:
        streams = connector.create_message_streams({topic: 2})[topic]
        found = [record for stream in streams for record in drain(stream)]
        assert len(found) == 100
        assert {record.partition for record in found} == set(range(5))
    assert [world.offset(topic, p) for p in range(5)] == [20] * 5
    fill(broker, topic, 5, 1, first=20)
    with world.connector("C2") as connector:
        [stream] = connector.create_message_streams({topic: 1})[topic]
        assert sorted(r.value for r in drain(stream)) == [b"%d/20" % p for p in range(5)]


def test_a_connector_without_fetchers_owns_and_commits_but_reads_nothing(broker, world, topic):
    fill(broker, topic, 5, 3)
    with world.connector("C1", enable_fetchers=False) as connector:
        [stream] = connector.create_message_streams({topic: 1})[topic]
        assert len(connector.owned_partitions()) == 5
        assert drain(stream) == []
        connector.commit_offsets({TopicPartition(topic, 0): 2})
    assert world.offset(topic, 0) == 2
    with world.connector("C2") as connector:
        [stream] = connector.create_message_streams({topic: 1})[topic]
        assert len(drain(stream)) == 13


@pytest.mark.parametrize("how", ["topics", "filter"])
def test_streams_without_partitions_are_named(world, topic, how, caplog):
    with caplog.at_level("WARNING", "barnabas"), world.connector("C1") as connector:
        if how == "topics":
            connector.create_message_streams({topic: 7})
        else:
            connector.create_message_streams_by_filter(re.escape(topic), 7)
    idle = [record.getMessage() for record in caplog.records if "no broker part" in record.msg]
    assert [text.split()[7] for text in idle] == ["g_C1-5", "g_C1-6"]


def test_streams_that_all_have_partitions_are_no_warning(world, topic, caplog):
    with caplog.at_level("WARNING", "barnabas"), world.connector("C1") as connector:
        connector.create_message_streams({topic: 5})
    assert "no broker partitions" not in caplog.text


def test_two_consumers_with_two_streams_share_five_partitions(world, topic):
    first, second = world.connector("C1"), world.connector("C2")
    first.create_message_streams({topic: 2})
    second.create_message_streams({topic: 2})
    expected = {0: "g_C1-0", 1: "g_C1-0", 2: "g_C1-1", 3: "g_C2-0", 4: "g_C2-1"}
    wait_until(lambda: world.owners(topic) == expected)
    first.shutdown()
    expected = {0: "g_C2-0", 1: "g_C2-0", 2: "g_C2-0", 3: "g_C2-1", 4: "g_C2-1"}
    wait_until(lambda: world.owners(topic) == expected)


def test_members_come_and_go_under_load_and_every_record_is_seen_once(broker, world, topic):
    readers = Readers()
    members = {}
    for turn in range(12):
        fill(broker, topic, 5, 20, first=20 * turn)
        if turn % 3 == 2:
            members.pop(min(members)).shutdown()
        name = f"C{turn}"
        members[name] = world.connector(name)
        readers.read(*members[name].create_message_streams({topic: 2})[topic])
        wait_until(lambda: len(world.owners(topic)) == 5)
    wait_until(lambda: len(readers.seen) == 5 * 20 * 12)
    for member in members.values():
        member.shutdown()
    readers.join()
    assert readers.errors == []
    assert set(readers.seen.values()) == {1}


def test_an_expired_session_registers_again_and_loses_nothing(broker, world, topic):
    readers = Readers()
    connector = world.connector("C1")
    readers.read(*connector.create_message_streams({topic: 1})[topic])
    fill(broker, topic, 5, 10)
    wait_until(lambda: len(readers.seen) == 50)
    world.run(world.trees["C1"].expire())
    wait_until(lambda: len(world.owners(topic)) == 5)
    fill(broker, topic, 5, 10, first=10)
    wait_until(lambda: len(readers.seen) == 100)


def test_a_dead_members_partitions_are_taken_over(broker, world, topic):
    readers = Readers()
    first, second = world.connector("C1"), world.connector("C2")
    readers.read(*first.create_message_streams({topic: 1})[topic])
    readers.read(*second.create_message_streams({topic: 1})[topic])
    wait_until(lambda: len(set(world.owners(topic).values())) == 2)
    world.run(world.trees["C1"].expire(reconnect=False))
    wait_until(lambda: set(world.owners(topic).values()) == {"g_C2-0"})
    fill(broker, topic, 5, 4)
    wait_until(lambda: len(readers.seen) == 20)


def test_a_topic_that_grows_is_read_whole(broker, world, topic):
    readers = Readers()
    connector = world.connector("C1")
    readers.read(*connector.create_message_streams({topic: 1})[topic])
    broker.admin.create_partitions({topic: 7})
    world.run(put_topic(world.admin, topic, 7))
    wait_until(lambda: len(connector.owned_partitions()) == 7)
    fill(broker, topic, 7, 3)
    wait_until(lambda: len(readers.seen) == 21)


def test_a_filter_takes_in_topics_that_come_later(broker, world, topic_name):
    broker.topic(f"{topic_name}-a")
    world.serve(broker, (f"{topic_name}-a", 1))
    broker.produce(f"{topic_name}-a", "1")
    connector = world.connector("C1")
    streams = connector.create_message_streams_by_filter(re.escape(topic_name) + ".*", 2)
    readers = Readers()
    readers.read(*streams)
    wait_until(lambda: len(readers.seen) == 1)
    broker.topic(f"{topic_name}-b")
    broker.produce(f"{topic_name}-b", "2")
    world.run(put_topic(world.admin, f"{topic_name}-b", 1))
    world.run(put_topic(world.admin, "another", 1))
    wait_until(lambda: len(readers.seen) == 2)
    assert {topic_partition.topic for topic_partition in connector.owned_partitions()} == {
        f"{topic_name}-a",
        f"{topic_name}-b",
    }


def test_a_blacklist_reads_the_others(broker, world, topic):
    world.run(put_topic(world.admin, "unwanted", 1))
    world.run(put_topic(world.admin, "__consumer_offsets", 1))
    connector = world.connector("C1")
    connector.create_message_streams_by_filter(Blacklist("unwanted"))
    assert {topic_partition.topic for topic_partition in connector.owned_partitions()} == {topic}


def test_offsets_in_kafka_with_dual_commit(broker, world, topic):
    fill(broker, topic, 5, 2)
    options = {"group": topic, "offsets.storage": "kafka"}
    with world.connector("C1", **options) as connector:
        [stream] = connector.create_message_streams({topic: 1})[topic]
        assert len(drain(stream)) == 10
        connector.commit_offsets()
        in_kafka = broker.admin.list_group_offsets([topic]).ok[topic]
    assert {topic_partition: found.offset for topic_partition, found in in_kafka.items()} == {
        TopicPartition(topic, p): 2 for p in range(5)
    }
    assert world.offset(topic, 0, group=topic) == 2
    with world.connector("C2", **options) as connector:
        [stream] = connector.create_message_streams({topic: 1})[topic]
        assert drain(stream) == []


def test_given_offsets_are_committed_and_nothing_by_itself_when_that_is_off(broker, world, topic):
    fill(broker, topic, 5, 3)
    with world.connector("C1", **{"auto.commit.enable": False}) as connector:
        [stream] = connector.create_message_streams({topic: 1})[topic]
        assert len(drain(stream)) == 15
        connector.commit_offsets({TopicPartition(topic, 0): 2})
    with world.connector("C2") as connector:
        [stream] = connector.create_message_streams({topic: 1})[topic]
        assert sorted((r.partition, r.offset) for r in drain(stream))[:2] == [(0, 2), (1, 0)]


def test_decoders_timeouts_and_the_end(broker, world, topic):
    broker.produce(topic, "41", key="k", partition=0)
    connector = world.connector("C1")
    decoders = {"key_decoder": bytes.decode, "value_decoder": int}
    [stream] = connector.create_message_streams({topic: 1}, **decoders)[topic]
    record = next(stream)
    assert (record.topic, record.key, record.value) == (topic, "k", 41)
    with pytest.raises(ConsumerTimeoutError):
        next(stream)
    with pytest.raises(MessageStreamsExistError):
        connector.create_message_streams({topic: 1})
    connector.shutdown()
    assert list(stream) == []


def test_the_largest_offset_skips_what_was_there(broker, world, topic):
    fill(broker, topic, 1, 5)
    connector = world.connector("C1", **{"auto.offset.reset": "largest"})
    [stream] = connector.create_message_streams({topic: 1})[topic]
    assert drain(stream) == []
    fill(broker, topic, 1, 1, first=5)
    assert [record.offset for record in drain(stream)] == [5]


def test_without_a_reset_an_invalid_offset_is_an_error(world, topic):
    connector = world.connector("C1", **{"auto.offset.reset": "none"})
    [stream] = connector.create_message_streams({topic: 1})[topic]
    with pytest.raises(BrokerError, match="OFFSET_OUT_OF_RANGE"):
        next(stream)


def test_a_listener_sees_what_is_released_and_what_begins(world, topic):
    calls = []

    class Listener(ConsumerRebalanceListener):
        def before_releasing_partitions(self, ownership):
            calls.append(("release", {t: sorted(p) for t, p in ownership.items()}))
            first.commit_offsets()

        def before_starting_fetchers(self, consumer_id, assignment):
            calls.append(("start", consumer_id, sorted(assignment)))

    first = world.connector("C1")
    first.set_rebalance_listener(Listener())
    first.create_message_streams({topic: 1})
    assert calls == [("release", {}), ("start", "g_C1", ["g_C1"])]
    world.connector("C2").create_message_streams({topic: 1})
    wait_until(lambda: len(calls) >= 4)
    assert calls[2] == ("release", {topic: [0, 1, 2, 3, 4]})
    assert calls[-1] == ("start", "g_C1", ["g_C1", "g_C2"])


def test_offsets_move_to_kafka_and_back(broker, world, topic):
    fill(broker, topic, 5, 4)
    with world.connector("C1", group=topic) as connector:
        [stream] = connector.create_message_streams({topic: 1})[topic]
        drain(stream)
        connector.commit_offsets()
        with migration(world, topic) as mover:
            plan = mover.plan(Direction.TO_KAFKA)
            with pytest.raises(LocalError, match=r"active members: .*C1"):
                mover.apply(plan)
    with migration(world, topic) as mover:
        assert mover.apply(mover.plan(Direction.TO_KAFKA)) == 5
        assert mover.apply(mover.plan(Direction.TO_KAFKA)) == 0
        topic_partition = TopicPartition(topic, 0)
        broker.admin.alter_group_offsets(topic, {topic_partition: 2})
        back = mover.plan(Direction.TO_ZOOKEEPER)
        assert mover.apply(back) == 0
        assert mover.apply(back, allow_rewind=True) == 1
    assert world.offset(topic, 0, group=topic) == 2
    assert broker.admin.list_group_offsets([topic]).ok[topic][TopicPartition(topic, 1)].offset == 4


def test_a_group_is_described_by_its_owners_offsets_and_lag(broker, world, topic):
    fill(broker, topic, 5, 4)
    connector = world.connector("C1", group=topic)
    connector.create_message_streams({topic: 1})
    connector.commit_offsets({TopicPartition(topic, 0): 3})

    async def open_tree(settings):
        return world.store.session()

    config = {"zookeeper.connect": "embedded"}
    with GroupReports(config, open_tree=open_tree, loop_thread=world.loop) as reports:
        assert topic in reports.groups()
        report = reports.describe(topic)
        assert reports.describe("nobody").partitions == ()
    assert report.members == (f"{topic}_C1",)
    first, second = report.partitions[:2]
    assert (first.owner, first.offset, first.log_end_offset, first.lag) == (
        f"{topic}_C1-0",
        3,
        4,
        1,
    )
    assert (second.offset, second.lag) == (None, None)


def migration(world, group):
    async def open_tree(settings):
        return world.store.session()

    config = {"zookeeper.connect": "embedded", "group.id": group}
    return OffsetMigration(config, open_tree=open_tree, loop_thread=world.loop)


class MistakeError(Exception):
    """An error of the application."""


RARE_COMMITS = {"auto.commit.interval.ms": 3_600_000}


def read_until(connector, topic, offset):
    """Reads until the record with this offset of one of the partitions is in progress."""
    [stream] = connector.create_message_streams({topic: 1})[topic]
    return next(record for record in stream if record.offset == offset)


def committed_offset(world, topic):
    """Returns the committed offset of partition 3, or None."""
    try:
        return world.offset(topic, 3)
    except NoNodeError:
        return None


def fail(connector, error=MistakeError):
    """Ends the `with` block of a connector by an error of the application."""
    with pytest.raises(error), connector:
        raise error


@pytest.mark.parametrize(
    ("error", "committed"), [(MistakeError, 2), (KeyboardInterrupt, 2), (SystemExit, 3)]
)
def test_the_record_in_progress_is_not_committed_after_an_error(
    broker, world, topic, error, committed
):
    """The records before it are; after sys.exit() it is as well."""
    broker.produce(topic, *"abcde", partition=3)
    connector = world.connector("C1", **RARE_COMMITS)
    read_until(connector, topic, 2)
    fail(connector, error)
    assert world.offset(topic, 3) == committed
    with world.connector("C2") as connector:
        [stream] = connector.create_message_streams({topic: 1})[topic]
        assert next(stream).offset == committed


def test_each_stream_has_its_own_record_in_progress(broker, world, topic):
    """A stream that waits for its next record has processed all of them."""
    broker.produce(topic, *"abcde", partition=0)
    broker.produce(topic, *"abcde", partition=4)
    connector = world.connector("C1", **RARE_COMMITS)
    first, second = connector.create_message_streams({topic: 2})[topic]
    assert len(drain(first)) == 5
    assert [next(second).offset for _ in range(4)] == [0, 1, 2, 3]
    fail(connector)
    assert (world.offset(topic, 0), world.offset(topic, 4)) == (5, 3)


def test_an_offset_that_the_application_commits_includes_the_record(broker, world, topic):
    broker.produce(topic, *"abcde", partition=3)
    connector = world.connector("C1", **RARE_COMMITS)
    read_until(connector, topic, 2)
    connector.commit_offsets()
    fail(connector)
    assert world.offset(topic, 3) == 3


def test_an_offset_that_the_application_commits_covers_no_later_record(broker, world, topic):
    broker.produce(topic, *"abcde", partition=3)
    connector = world.connector("C1", **RARE_COMMITS)
    [stream] = connector.create_message_streams({topic: 1})[topic]
    next(stream)
    connector.commit_offsets()
    assert [next(stream).offset for _ in range(3)] == [1, 2, 3]
    fail(connector)
    assert world.offset(topic, 3) == 3


def test_an_automatic_commit_of_the_record_in_progress_is_taken_back(broker, world, topic):
    broker.produce(topic, *"abcde", partition=3)
    connector = world.connector("C1", **{"auto.commit.interval.ms": 50})
    read_until(connector, topic, 2)
    wait_until(lambda: committed_offset(world, topic) == 3)
    fail(connector)
    assert world.offset(topic, 3) == 2


def test_a_record_that_a_decoder_refuses_is_read_again(broker, world, topic):
    broker.produce(topic, *"1x", partition=3)
    connector = world.connector("C1", **RARE_COMMITS)
    [stream] = connector.create_message_streams({topic: 1}, value_decoder=int)[topic]
    assert next(stream).value == 1
    with pytest.raises(ValueError, match="x"), connector:
        next(stream)
    assert world.offset(topic, 3) == 1


def test_a_record_in_progress_during_a_rebalance_is_read_again(broker, world, topic):
    """Partition 0 stays with the member that fails; the other one takes partition 4 over."""
    broker.produce(topic, *"abcde", partition=0)
    connector = world.connector("C1", **RARE_COMMITS)
    read_until(connector, topic, 2)
    world.connector("C2", **RARE_COMMITS).create_message_streams({topic: 1})
    wait_until(lambda: len(set(world.owners(topic).values())) == 2)
    assert world.offset(topic, 0) == 3
    fail(connector)
    assert world.offset(topic, 0) == 2


def test_a_partition_that_another_member_took_over_is_not_committed(broker, world, topic):
    broker.produce(topic, *"abcde", partition=4)
    connector = world.connector("C1", **RARE_COMMITS)
    read_until(connector, topic, 2)
    world.connector("C2", **RARE_COMMITS).create_message_streams({topic: 1})
    wait_until(lambda: world.owners(topic).get(4) == "g_C2-0")
    fail(connector)
    assert world.offset(topic, 4) == 3


def test_nothing_is_committed_after_an_error_without_automatic_commits(broker, world, topic):
    broker.produce(topic, *"abcde", partition=3)
    connector = world.connector("C1", **{"auto.commit.enable": False})
    read_until(connector, topic, 2)
    fail(connector)
    assert committed_offset(world, topic) is None


@pytest.mark.parametrize(("failed", "offset"), [(True, 2), (False, 3)])
def test_a_connector_that_is_never_shut_down_commits_at_exit(broker, world, topic, failed, offset):
    broker.produce(topic, *"abcde", partition=3)
    connector = world.connector("C1", **RARE_COMMITS)
    read_until(connector, topic, 2)
    closed(connector)  # The exit of the test run has nothing to do.
    connector.start_exit(10.0, failed)()
    assert world.offset(topic, 3) == offset
