"""Members of groups against a real broker, under both protocols."""

import re
import threading

import pytest
from support.cluster.brokers import broker_with
from support.groups.members import Member, shares, wait_until

from barnabas import Admin, Producer, TopicPartition, aio
from barnabas.clients.group import Consumer
from barnabas.clients.group.errors import CommitFailedError
from barnabas.model.errors import BrokerError, LocalError

pytestmark = pytest.mark.integration

CLASSIC = {"session.timeout.ms": 6000, "heartbeat.interval.ms": 100}
PROTOCOLS = {
    "range": {**CLASSIC, "partition.assignment.strategy": "range"},
    "sticky": {**CLASSIC, "partition.assignment.strategy": "sticky"},
    "cooperative": {**CLASSIC, "partition.assignment.strategy": "cooperative-sticky"},
    "consumer": {"group.protocol": "consumer"},
}


@pytest.fixture(scope="module")
def broker(request):
    settings = {
        "group.consumer.heartbeat.interval.ms": 100,
        "group.consumer.min.heartbeat.interval.ms": 50,
    }
    with broker_with(settings, request.config) as running:
        yield running


@pytest.fixture
def topic_name(broker, topic_name):
    """A topic of four partitions."""
    return broker.topic(topic_name, partitions=4)


def config(broker, group, **more):
    return {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": group,
        "auto.offset.reset": "earliest",
        "fetch.max.wait.ms": 50,
        **more,
    }


def fill(broker, topic, numbers):
    with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in numbers:
            producer.send(topic, b"%d" % number, partition=number % 4)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_members_share_and_take_over(broker, topic_name, protocol):
    fill(broker, topic_name, range(400))
    settings = config(broker, topic_name, **PROTOCOLS[protocol])
    first = Member("first", settings, [topic_name])
    wait_until(lambda: shares([first]) == [4] and sum(first.values.values()) == 400)
    second = Member("second", settings, [topic_name])
    wait_until(lambda: shares([first, second]) == [2, 2])
    fill(broker, topic_name, range(400, 800))
    wait_until(lambda: sum((first.values + second.values).values()) >= 800)
    first.stop()
    wait_until(lambda: shares([second]) == [4])
    fill(broker, topic_name, range(800, 1000))
    wait_until(lambda: sum((first.values + second.values).values()) >= 1000)
    second.stop()
    # Whoever gave a partition up had committed what it read there: nothing twice, nothing lost.
    assert set((first.values + second.values).values()) == {1}
    assert len(first.values + second.values) == 1000


@pytest.mark.parametrize("protocol", ["cooperative", "consumer"])
def test_partitions_that_a_member_keeps_are_not_revoked(broker, topic_name, protocol):
    fill(broker, topic_name, range(4))
    settings = config(broker, topic_name, **PROTOCOLS[protocol])
    first = Member("first", settings, [topic_name])
    wait_until(lambda: shares([first]) == [4])
    second = Member("second", settings, [topic_name])
    wait_until(lambda: shares([first, second]) == [2, 2])
    first.stop()
    second.stop()
    revoked = [topic_partitions for what, topic_partitions in first.events if what == "revoked"]
    assert len(revoked[0]) == 2, "only what moved is given up while the group goes on"


def test_eager_members_give_up_everything_first(broker, topic_name):
    fill(broker, topic_name, range(4))
    settings = config(broker, topic_name, **PROTOCOLS["range"])
    first = Member("first", settings, [topic_name])
    wait_until(lambda: shares([first]) == [4])
    second = Member("second", settings, [topic_name])
    wait_until(lambda: shares([first, second]) == [2, 2])
    second.stop()
    first.stop()
    everything = [TopicPartition(topic_name, number) for number in range(4)]
    assert first.events[:2] == [("assigned", everything), ("revoked", everything)]


@pytest.mark.parametrize("protocol", ["range", "consumer"])
def test_a_pattern_follows_new_topics(broker, topic_name, protocol):
    broker.topic(f"{topic_name}.a", partitions=4)
    fill(broker, f"{topic_name}.a", range(8))
    settings = config(broker, topic_name, **PROTOCOLS[protocol], **{"metadata.max.age.ms": 200})
    member = Member("only", settings, re.compile(re.escape(topic_name) + r"\.[ab]"))
    wait_until(lambda: shares([member]) == [4] and len(member.values) == 8)
    for letter, numbers in (("b", range(8, 16)), ("c", range(16, 24))):
        broker.topic(f"{topic_name}.{letter}", partitions=4)
        fill(broker, f"{topic_name}.{letter}", numbers)
    wait_until(lambda: shares([member]) == [8] and len(member.values) == 16)
    member.stop()
    assert {
        topic_partition.topic
        for _, topic_partitions in member.events
        for topic_partition in topic_partitions
    } == {
        f"{topic_name}.a",
        f"{topic_name}.b",
    }


@pytest.mark.parametrize("protocol", ["range", "cooperative", "consumer"])
def test_a_pattern_drops_deleted_topics(broker, topic_name, protocol, caplog):
    names = [f"{topic_name}.a", f"{topic_name}.b"]
    for name in names:
        broker.topic(name, partitions=2)
        with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
            producer.send(name, b"1", partition=0)
    fast = {"metadata.max.age.ms": 200, "auto.commit.interval.ms": 50}
    settings = config(broker, topic_name, **PROTOCOLS[protocol], **fast)
    with (
        caplog.at_level("WARNING", "barnabas"),
        Consumer(settings) as consumer,
        Admin(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        consumer.subscribe(re.compile(re.escape(topic_name) + r"\.."))
        found = 0
        while found < 2:
            found += sum(map(len, consumer.poll(0.1).values()))
        admin.delete_topics([names[0]]).check()
        wait_until(lambda: not consumer.poll(0.05) and consumer.subscription() == {names[1]})
        wait_until(
            lambda: (
                not consumer.poll(0.05) and {p.topic for p in consumer.assignment()} == {names[1]}
            )
        )
        caplog.clear()
        with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
            producer.send(names[1], b"2", partition=0)
        while not consumer.poll(0.1):
            pass
        topic_partition = TopicPartition(names[1], 0)
        wait_until(
            lambda: (
                not consumer.poll(0.05)
                and consumer.committed(topic_partition)[topic_partition].offset == 2
            )
        )
    assert "commit failed" not in caplog.text


def test_a_static_member_comes_back_to_its_partitions(broker, topic_name):
    fill(broker, topic_name, range(4))
    settings = config(broker, topic_name, **PROTOCOLS["range"])
    other = Member("other", settings, [topic_name])
    static = Member("static", {**settings, "group.instance.id": "one"}, [topic_name])
    wait_until(lambda: shares([other, static]) == [2, 2])
    had = static.assigned
    static.stop()
    before = list(other.events)
    static = Member("again", {**settings, "group.instance.id": "one"}, [topic_name])
    wait_until(lambda: static.assigned == had)
    assert other.events == before, "nobody else noticed"
    other.stop()
    static.stop()


def test_a_second_holder_of_an_instance_id_fences_the_first(broker, topic_name):
    fill(broker, topic_name, range(4))
    settings = config(broker, topic_name, **PROTOCOLS["range"], **{"group.instance.id": "one"})
    first = Member("first", settings, [topic_name])
    wait_until(lambda: shares([first]) == [4])
    second = Member("second", settings, [topic_name])
    wait_until(lambda: first.failure is not None)
    assert isinstance(first.failure, BrokerError)
    assert first.failure.name == "FENCED_INSTANCE_ID"
    second.stop()


@pytest.mark.parametrize("protocol", ["range", "consumer"])
def test_a_member_that_does_not_poll_leaves_and_comes_back(broker, topic_name, protocol):
    fill(broker, topic_name, range(4))
    slow_config = {"max.poll.interval.ms": 400, "enable.auto.commit": False}
    settings = config(broker, topic_name, **PROTOCOLS[protocol])
    with Consumer({**settings, **slow_config}) as slow:
        heard = []

        class Listener:
            def on_partitions_assigned(self, partitions):
                heard.append("assigned")

            def on_partitions_lost(self, partitions):
                heard.append("lost")

        slow.subscribe([topic_name], Listener())
        while not slow.poll(0.1):
            pass
        other = Member("other", settings, [topic_name])
        wait_until(lambda: shares([other]) == [4])
        with pytest.raises(CommitFailedError):
            slow.commit({TopicPartition(topic_name, 0): 1})
        deadline = threading.Event()
        while heard[-1:] != ["assigned"] or heard.count("assigned") < 2:
            slow.poll(0.1)
            assert not deadline.wait(0)
        assert heard == ["assigned", "lost", "assigned"]
        other.stop()


def test_offsets_go_through_a_transaction(broker, topic_name):
    fill(broker, topic_name, range(8))
    settings = config(broker, topic_name, **PROTOCOLS["range"], **{"enable.auto.commit": False})
    with (
        Consumer(settings) as consumer,
        Producer(
            bootstrap_servers=broker.bootstrap_servers, transactional_id=topic_name
        ) as producer,
    ):
        producer.init_transactions()
        consumer.subscribe([topic_name])
        offsets = {}
        while len(offsets) < 4:
            for topic_partition, records in consumer.poll(1).items():
                offsets[topic_partition] = records[-1].offset + 1
        producer.begin_transaction()
        producer.send_offsets_to_transaction(offsets, consumer.group_metadata())
        producer.commit_transaction()
        committed = consumer.committed()
    assert {topic_partition: at.offset for topic_partition, at in committed.items()} == offsets


def test_unsubscribe_leaves_and_subscribe_joins_again(broker, topic_name):
    fill(broker, topic_name, range(8))
    with Consumer(config(broker, topic_name, **PROTOCOLS["range"])) as consumer:
        consumer.subscribe([topic_name])
        while len(consumer.assignment()) < 4:
            consumer.poll(0.1)
        with pytest.raises(LocalError, match="unsubscribe"):
            consumer.assign([(topic_name, 0)])
        consumer.subscribe([])
        assert consumer.assignment() == set()
        with pytest.raises(LocalError, match="nothing to poll"):
            consumer.poll(0)
        consumer.subscribe([topic_name])
        while len(consumer.assignment()) < 4:
            consumer.poll(0.1)


def test_unsubscribe_commits_nothing(broker, topic_name):
    """Only close() commits automatically before it leaves, as Java and librdkafka do."""
    fill(broker, topic_name, range(8))
    settings = config(broker, topic_name, **PROTOCOLS["range"])
    with Consumer({**settings, "enable.auto.commit": True}) as consumer:
        consumer.subscribe([topic_name])
        seen = 0
        while seen < 8:
            seen += sum(map(len, consumer.poll(1).values()))
        partitions = consumer.assignment()
        for leave in (consumer.unsubscribe, lambda: consumer.subscribe([])):
            leave()
            assert set(consumer.committed(*partitions).values()) == {None}
            consumer.subscribe([topic_name])
            while not consumer.poll(1):
                pass
        consumer.unsubscribe()
        consumer.assign(partitions)
        while not consumer.poll(1):
            pass
        consumer.assign([])
        assert set(consumer.committed(*partitions).values()) == {None}


async def test_unsubscribe_of_the_asyncio_consumer_commits_nothing(broker, topic_name):
    fill(broker, topic_name, range(8))
    settings = config(broker, topic_name, **PROTOCOLS["range"])
    async with aio.Consumer({**settings, "enable.auto.commit": True}) as consumer:
        await consumer.subscribe([topic_name])
        while not await consumer.poll(1):
            pass
        partitions = consumer.assignment()
        await consumer.unsubscribe()
        assert set((await consumer.committed(*partitions)).values()) == {None}
        consumer.assign(partitions)
        while not await consumer.poll(1):
            pass
        consumer.assign([])
        assert set((await consumer.committed(*partitions)).values()) == {None}


def test_a_listeners_error_is_raised_by_poll(broker, topic_name):
    fill(broker, topic_name, range(4))

    class Listener:
        def on_partitions_assigned(self, partitions):
            raise ValueError("no")

    with Consumer(config(broker, topic_name, **PROTOCOLS["range"])) as consumer:
        consumer.subscribe([topic_name], Listener())
        with pytest.raises(ValueError, match="no"):
            consumer.poll(60)
        while len(consumer.assignment()) < 4 or not consumer.poll(0.1):
            pass


def test_a_seek_in_the_listener_wins(broker, topic_name):
    fill(broker, topic_name, range(40))
    with Consumer(config(broker, topic_name, **PROTOCOLS["range"])) as consumer:

        class Listener:
            def on_partitions_assigned(self, partitions):
                for topic_partition in partitions:
                    consumer.seek(topic_partition, 9)

        consumer.subscribe([topic_name], Listener())
        offsets = []
        while len(offsets) < 4:
            offsets += [record.offset for found in consumer.poll(1).values() for record in found]
        assert offsets == [9, 9, 9, 9]
