"""`for record in consumer` takes blocks of decoded records; every call still acts on one record."""

import asyncio
import threading
import time
from itertools import islice

import pytest
from support.groups.members import wait_until

from barnabas import Admin, Consumer, Producer, TopicPartition, aio
from barnabas.clients.group.decoding import DeserializationError
from barnabas.clients.group.errors import WakeupError

pytestmark = pytest.mark.integration
COUNT = 2000


@pytest.fixture
def topic(broker, topic_name):
    """Two partitions of `COUNT` records each; the value of a record is its offset."""
    broker.topic(topic_name, partitions=2)
    with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in range(COUNT):
            for partition in (0, 1):
                producer.send(topic_name, b"%d" % number, partition=partition)
    return topic_name


@pytest.fixture
def config(broker, topic):
    return {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": topic,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "session.timeout.ms": 6000,
        "heartbeat.interval.ms": 100,
        "fetch.max.wait.ms": 50,
    }


@pytest.fixture
def single(topic):
    return TopicPartition(topic, 0)


def offsets(records):
    return [record.offset for record in records]


def test_position_and_commit_follow_each_record(config, single):
    with Consumer(config) as consumer:
        consumer.assign([single])
        for record in islice(consumer, 700):
            if record.offset % 97 == 0:
                assert consumer.position(single) == record.offset + 1
                assert consumer.lag(single) == COUNT - record.offset - 1
                consumer.commit()
                assert consumer.committed(single)[single].offset == record.offset + 1
        assert consumer.position(single) == 700
        assert offsets(islice(consumer, 3)) == [700, 701, 702], "a second loop continues"
        assert consumer.poll(60)[single][0].offset == 703, "poll() continues as well"


def test_seek_and_pause_take_effect_with_the_next_record(config, topic, single):
    other = TopicPartition(topic, 1)
    with Consumer(config) as consumer:
        consumer.assign([single, other])
        first = next(iter(consumer))
        current = TopicPartition(topic, first.partition)
        consumer.seek(current, 1500)
        consumer.pause(TopicPartition(topic, 1 - first.partition))
        assert offsets(islice(consumer, 2)) == [1500, 1501]
        consumer.resume(TopicPartition(topic, 1 - first.partition))
        consumer.pause(current)
        found = next(iter(consumer))
        assert (found.partition, found.offset) == (1 - first.partition, 0)
        consumer.pause(TopicPartition(topic, found.partition))
        consumer.resume(current)
        assert next(iter(consumer)).offset == 1502, "nothing is lost by a pause"


def test_all_records_of_all_partitions_once(config, topic):
    with Consumer(config) as consumer:
        consumer.subscribe([topic])
        found = [(record.partition, record.offset) for record in islice(consumer, 2 * COUNT)]
    for partition in (0, 1):
        assert [at for p, at in found if p == partition] == list(range(COUNT))


def test_wakeup_close_and_an_error_within_a_block(config, single):
    with Consumer(config) as consumer:
        consumer.assign([single])
        records = iter(consumer)
        assert next(records).offset == 0
        consumer.wakeup()
        with pytest.raises(WakeupError):
            next(records)
        assert next(records).offset == 1
        consumer.close()
        assert list(records) == []


def test_a_record_that_cannot_be_deserialized_stays(config, single):
    def deserialize(data):
        if data == b"5":
            raise ValueError("five")
        return int(data)

    with Consumer({**config, "value.deserializer": deserialize}) as consumer:
        consumer.assign([single])
        assert [record.value for record in islice(consumer, 5)] == [0, 1, 2, 3, 4]
        for _ in range(2):
            with pytest.raises(DeserializationError, match="five"):
                next(iter(consumer))
        assert consumer.position(single) == 5
        consumer.seek(single, 6)
        assert next(iter(consumer)).value == 6


def test_interceptors_see_each_returned_record_once(config, single):
    class Interceptor:
        def __init__(self):
            self.seen = []

        def on_consume(self, records):
            self.seen += [record.offset for found in records.values() for record in found]
            return {p: [r for r in found if r.offset % 2] for p, found in records.items()}

        def on_commit(self, offsets):
            pass

    interceptor = Interceptor()
    with Consumer({**config, "interceptor.classes": [interceptor]}) as consumer:
        consumer.assign([single])
        found = []
        for record in islice(consumer, 300):
            found.append(record.offset)
            consumer.commit_async()  # its callback interrupts the block
    assert found == list(range(1, 600, 2))
    assert interceptor.seen == list(range(600))


def test_automatic_commits_cover_only_returned_records(config, topic, single):
    """The interval ends in the middle of a block."""
    with Consumer(
        {**config, "enable.auto.commit": True, "auto.commit.interval.ms": 100}
    ) as consumer:
        consumer.assign([single])
        with Admin(bootstrap_servers=config["bootstrap.servers"]) as admin:
            committed = 0
            for record in consumer:
                found = admin.list_group_offsets([topic])[topic]
                if single in found:
                    committed = found[single].offset
                    assert committed <= record.offset
                if committed > 3:
                    break
                threading.Event().wait(0.02)  # slower than the interval within one block
    assert committed < COUNT


def test_a_rebalance_happens_within_a_block(config, topic):
    """Another member joins: the iterating member gives partitions up before its block ends."""
    joined = threading.Event()
    theirs = []

    def join():
        with Consumer({**config, "client.id": "second"}) as second:
            second.subscribe([topic])
            while not stop.is_set():
                theirs.extend(r for found in second.poll(0.05).values() for r in found)
                if second.assignment():
                    joined.set()
            second.commit()

    stop = threading.Event()
    thread = threading.Thread(target=join)
    mine, owned = [], set()
    with Consumer({**config, "enable.auto.commit": True}) as first:
        first.subscribe([topic])
        for record in first:
            mine.append((record.partition, record.offset))
            if len(mine) == 1:
                thread.start()
            if joined.is_set():
                owned = first.assignment()
                break
            # Ever slower: a busy machine needs long for the second member.
            threading.Event().wait(0.01 if len(mine) < COUNT // 2 else 0.1)
        assert len(owned) == 1
        assert len(mine) < COUNT, "not only at the end of the block"
        rest = islice(first, COUNT - sum(TopicPartition(topic, p) in owned for p, _ in mine))
        mine += [(record.partition, record.offset) for record in rest]
        wait_until(lambda: len(mine) + len(theirs) >= 2 * COUNT)
    stop.set()
    thread.join()
    everything = mine + [(record.partition, record.offset) for record in theirs]
    assert sorted(everything) == [(p, at) for p in (0, 1) for at in range(COUNT)]


def test_each_record_counts_for_the_poll_interval(config, topic):
    """A member that iterates slowly stays; one that stops within a block is removed."""
    settings = {**config, "max.poll.interval.ms": 2000}
    with (
        Consumer(settings) as consumer,
        Admin(bootstrap_servers=config["bootstrap.servers"]) as admin,
    ):
        consumer.subscribe([topic])
        begin = time.monotonic()
        for _ in consumer:
            if time.monotonic() - begin > 3:
                break
            threading.Event().wait(0.2)
        assert admin.describe_group(topic).members
        consumer.commit()
        wait_until(lambda: not admin.describe_group(topic).members)


async def test_asyncio_positions_and_seeks(config, topic, single):
    async with aio.Consumer(config) as consumer:
        consumer.assign([single])
        found = []
        async for record in consumer:
            found.append(record.offset)
            assert await consumer.position(single) == record.offset + 1
            if record.offset == 10:
                consumer.seek(single, 1000)
            if record.offset == 1010:
                break
        assert found == [*range(11), *range(1000, 1011)]
        assert (await consumer.poll(60))[single][0].offset == 1011
        async for _ in consumer:
            consumer.pause(single)
            break
        assert not await consumer.poll(0.1)
        consumer.resume(single)
        position = await consumer.position(single)
        async for record in consumer:
            assert record.offset == position
            consumer.wakeup()
            break
        with pytest.raises(WakeupError):
            async for _ in consumer:
                pass
        await consumer.close()
        assert [record async for record in consumer] == []


async def test_asyncio_iteration_yields_to_other_tasks(config, single):
    """Also if the loop's body never awaits and is slow."""
    turns = 0

    async def count():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with aio.Consumer(config) as consumer:
        consumer.assign([single])
        await consumer.poll(60)
        consumer.seek(single, 0)
        counter = asyncio.create_task(count())
        seen = 0
        async for _ in consumer:
            seen += 1
            threading.Event().wait(0.001)  # a slow body that does not await
            if seen == 300:
                break
        counter.cancel()
    assert turns >= 5
