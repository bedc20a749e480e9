"""The consumer by assignment, against a real broker."""

import threading

import pytest

from barnabas import Producer, TopicPartition
from barnabas.clients.group import Consumer
from barnabas.clients.group.decoding import DeserializationError
from barnabas.clients.group.errors import (
    ConcurrentUseError,
    NoOffsetError,
    OffsetOutOfRangeError,
    WakeupError,
)
from barnabas.model.errors import ClosedError, ConfigError, LocalError
from barnabas.model.records import OffsetAndMetadata
from barnabas.testing import Broker

pytestmark = pytest.mark.integration

QUICK = {"auto.offset.reset": "earliest", "fetch.max.wait.ms": 50}


def make(broker, **more):
    options = {name.replace("_", "."): value for name, value in more.items()}
    return Consumer({"bootstrap.servers": broker.bootstrap_servers, **QUICK, **options})


@pytest.fixture
def topic_name(broker, topic_name):
    """A topic of one partition."""
    return broker.topic(topic_name)


def fill(broker, topic, count, partition=0, **more):
    with Producer({"bootstrap.servers": broker.bootstrap_servers, **more}) as producer:
        for number in range(count):
            producer.send(topic, b"v%d" % number, key=b"k%d" % number, partition=partition)


def read(consumer, count, seconds=60.0):
    records = []
    while len(records) < count:
        polled = consumer.poll(seconds)
        assert polled, f"{len(records)} of {count} records"
        for found in polled.values():
            records.extend(found)
    return records


def test_poll_returns_every_record_in_order(broker, topic_name):
    fill(broker, topic_name, 1200)
    topic_partition = TopicPartition(topic_name, 0)
    with make(broker) as consumer:
        consumer.assign([topic_partition])
        first = consumer.poll(60)
        assert len(first[topic_partition]) == 500
        records = first[topic_partition] + read(consumer, 700)
        assert [record.offset for record in records] == list(range(1200))
        assert records[7].value == b"v7"
        assert records[7].key == b"k7"
        assert consumer.position(topic_partition) == 1200
        assert consumer.lag(topic_partition) == 0
        assert consumer.metrics().value("records-lead", **topic_partition._asdict()) == 1200


def test_small_fetches_and_prefetch_keep_order(broker, topic_name):
    fill(broker, topic_name, 3000, **{"batch.size": 200})
    with make(broker, max_partition_fetch_bytes=1000, max_poll_records=70) as consumer:
        consumer.assign([(topic_name, 0)])
        records = read(consumer, 3000)
    assert [record.offset for record in records] == list(range(3000))


def test_seek_sets_the_position(broker, topic_name):
    fill(broker, topic_name, 100)
    topic_partition = TopicPartition(topic_name, 0)
    with make(broker) as consumer:
        consumer.assign([topic_partition])
        read(consumer, 100)
        consumer.seek(topic_partition, 42)
        assert consumer.poll(60)[topic_partition][0].offset == 42
        consumer.seek_to_beginning()
        assert consumer.position(topic_partition) == 0
        assert consumer.poll(60)[topic_partition][0].offset == 0
        consumer.seek_to_end(topic_partition)
        assert consumer.position(topic_partition) == 100
        assert consumer.poll(0.1) == {}
        with pytest.raises(LocalError):
            consumer.seek(topic_partition, -1)
        with pytest.raises(LocalError, match="not assigned"):
            consumer.seek(TopicPartition(topic_name, 9), 0)


def test_offsets_of_the_log(broker, topic_name):
    topic_partition = TopicPartition(topic_name, 0)
    with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in range(10):
            producer.send(topic_name, b"v", partition=0, timestamp=1_000_000 + number)
    with make(broker) as consumer:
        assert consumer.beginning_offsets([topic_partition]) == {topic_partition: 0}
        assert consumer.end_offsets([topic_partition]) == {topic_partition: 10}
        found = consumer.offsets_for_times({topic_partition: 1_000_005})[topic_partition]
        assert (found.offset, found.timestamp) == (5, 1_000_005)
        assert consumer.offsets_for_times({topic_partition: 2_000_000}) == {topic_partition: None}
        (found,) = consumer.partitions_for(topic_name)
        assert found.topic_partition == topic_partition
        assert found.leader.port == int(broker.bootstrap_servers.rpartition(":")[2])
        assert found.replicas == found.isr == (found.leader,)


def test_out_of_range_resets_by_policy(broker, topic_name):
    fill(broker, topic_name, 10)
    topic_partition = TopicPartition(topic_name, 0)
    with make(broker) as consumer:
        consumer.assign([topic_partition])
        consumer.seek(topic_partition, 5000)
        assert consumer.poll(60)[topic_partition][0].offset == 0


def test_no_offset_and_an_offset_out_of_range_have_policies_of_their_own(broker, topic_name):
    fill(broker, topic_name, 20)
    topic_partition = TopicPartition(topic_name, 0)
    raising = {"auto.offset.reset.out.of.range": "none"}
    with Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": topic_name, **QUICK, **raising}
    ) as consumer:
        consumer.assign([topic_partition])
        assert read(consumer, 1)[0].offset == 0, "no committed offset: earliest"
        consumer.seek(topic_partition, 5000)
        with pytest.raises(OffsetOutOfRangeError, match="5000"):
            consumer.poll(60)
    going_on = {"auto.offset.reset": "none", "auto.offset.reset.out.of.range": "earliest"}
    with Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": f"{topic_name}-2", **going_on}
    ) as consumer:
        consumer.assign([topic_partition])
        with pytest.raises(NoOffsetError):
            consumer.poll(60)
        consumer.seek(topic_partition, 5000)
        assert read(consumer, 1)[0].offset == 0


def test_without_policy_the_application_decides(broker, topic_name):
    fill(broker, topic_name, 10)
    topic_partition = TopicPartition(topic_name, 0)
    with make(broker, auto_offset_reset="none") as consumer:
        consumer.assign([topic_partition])
        with pytest.raises(NoOffsetError):
            consumer.poll(60)
        consumer.seek(topic_partition, 5000)
        with pytest.raises(OffsetOutOfRangeError) as error:
            consumer.poll(60)
        assert (error.value.partition, error.value.offset) == (topic_partition, 5000)
        consumer.seek(topic_partition, 3)
        assert consumer.poll(60)[topic_partition][0].offset == 3


@pytest.mark.parametrize(
    ("reset", "first"), [("earliest", 0), ("by_duration:P100000D", 0), ("by_duration:PT1S", 10)]
)
def test_begin_by_policy(broker, topic_name, reset, first):
    topic_partition = TopicPartition(topic_name, 0)
    with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for _ in range(10):
            producer.send(topic_name, b"v", partition=0, timestamp=1_700_000_000_000)
    with make(broker, auto_offset_reset=reset) as consumer:
        consumer.assign([topic_partition])
        assert consumer.position(topic_partition) == first


def test_pause_keeps_what_was_fetched(broker, topic_name):
    fill(broker, topic_name, 2000)
    topic_partition = TopicPartition(topic_name, 0)
    with make(broker) as consumer:
        consumer.assign([topic_partition])
        read(consumer, 500)
        consumer.pause(topic_partition)
        assert consumer.poll(0.2) == {}
        assert consumer.paused() == {topic_partition}
        assert consumer.metrics().value("buffered-bytes") > 0
        consumer.resume(topic_partition)
        assert consumer.poll(0)[topic_partition][0].offset == 500, (
            "what was fetched is there at once"
        )


def test_iteration_commits_only_what_was_handed_out(broker, topic_name):
    fill(broker, topic_name, 20)
    topic_partition = TopicPartition(topic_name, 0)
    with make(broker, group_id=topic_name, enable_auto_commit=False) as consumer:
        consumer.assign([topic_partition])
        for record in consumer:
            if record.offset == 4:
                break
        consumer.commit()
        assert consumer.committed(topic_partition)[topic_partition].offset == 5
        assert consumer.poll(60)[topic_partition][0].offset == 5


def test_commit_and_go_on(broker, topic_name):
    fill(broker, topic_name, 20)
    topic_partition = TopicPartition(topic_name, 0)
    with make(broker, group_id=topic_name, enable_auto_commit=False) as consumer:
        consumer.assign([topic_partition])
        read(consumer, 20)
        consumer.commit({topic_partition: OffsetAndMetadata(7, "half way")})
        assert consumer.committed() == {topic_partition: OffsetAndMetadata(7, "half way", -1)}
        heard = []
        consumer.commit_async(
            {topic_partition: 9}, lambda offsets, error: heard.append((offsets, error))
        )
        consumer.commit({topic_partition: 11})
        consumer.poll(0)
        assert heard == [({topic_partition: OffsetAndMetadata(9)}, None)]
    with make(broker, group_id=topic_name) as consumer:
        consumer.assign([topic_partition])
        assert consumer.position(topic_partition) == 11


def test_auto_commit_covers_only_what_an_earlier_poll_returned(broker, topic_name):
    fill(broker, topic_name, 20)
    topic_partition = TopicPartition(topic_name, 0)
    options = {"group_id": topic_name, "auto_commit_interval_ms": 0, "max_poll_records": 5}
    with make(broker, **options) as consumer:
        consumer.assign([topic_partition])
        read(consumer, 5)
        read(consumer, 5)
        # The second poll committed the first one's records; the second one's are not done yet.
        assert consumer.committed(topic_partition)[topic_partition].offset == 5
    with make(broker, group_id=topic_name) as consumer:
        consumer.assign([topic_partition])
        assert consumer.position(topic_partition) == 10, "close() commits what was returned"


def test_arrow_and_records_share_one_position(broker, topic_name):
    pytest.importorskip("pyarrow")
    with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in range(1000):
            producer.send(topic_name, b"v%d" % number, partition=0, headers=[("h", b"1")])
    topic_partition = TopicPartition(topic_name, 0)
    with make(broker, max_poll_records=300) as consumer:
        consumer.assign([topic_partition])
        assert len(consumer.poll(60)[topic_partition]) == 300
        batch = consumer.poll_arrow(60)
        assert batch.column("offset")[0].as_py() == 300
        assert batch.column("value")[0].as_py() == b"v300"
        assert batch.column("headers")[0].as_py() == [{"key": "h", "value": b"1"}]
        rows = batch.num_rows
        while rows < 700:
            rows += consumer.poll_arrow(60).num_rows
        assert consumer.position(topic_partition) == 1000
        empty = consumer.poll_arrow(0)
        assert (empty.num_rows, empty.schema.names[0]) == (0, "topic")


def test_wakeup_ends_a_poll(broker, topic_name):
    with make(broker) as consumer:
        consumer.assign([(topic_name, 0)])
        timer = threading.Timer(0.1, consumer.wakeup)
        timer.start()
        with pytest.raises(WakeupError):
            consumer.poll(30)
        timer.join()
        assert consumer.poll(0) == {}


def test_a_second_thread_gets_an_error(broker, topic_name):
    with make(broker) as consumer:
        consumer.assign([(topic_name, 0)])
        entered = threading.Event()

        def poll():
            entered.set()
            with pytest.raises(WakeupError):
                consumer.poll(30)

        thread = threading.Thread(target=poll)
        thread.start()
        entered.wait()
        while not consumer._one_thread._owner:
            pass
        with pytest.raises(ConcurrentUseError, match="another thread"):
            consumer.poll(0)
        consumer.wakeup()
        thread.join()


def test_read_committed_hides_what_was_aborted(broker, topic_name):
    with Producer(
        bootstrap_servers=broker.bootstrap_servers, transactional_id=topic_name
    ) as producer:
        producer.init_transactions()
        for number, commit in enumerate([True, False, True]):
            producer.begin_transaction()
            producer.send(topic_name, b"%d" % number, partition=0).result(60)
            (producer.commit_transaction if commit else producer.abort_transaction)()
    topic_partition = TopicPartition(topic_name, 0)
    with make(broker, isolation_level="read_committed") as consumer:
        consumer.assign([topic_partition])
        assert [record.value for record in read(consumer, 2)] == [b"0", b"2"]
        consumer.poll(0.2)
        assert consumer.position(topic_partition) == 6, "markers are passed over"


def test_deserializers_and_a_record_they_reject(broker, topic_name):
    with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for value in (b"1", b"2", b"x", b"4"):
            producer.send(topic_name, value, partition=0)
    topic_partition = TopicPartition(topic_name, 0)
    with make(broker, value_deserializer=int) as consumer:
        consumer.assign([topic_partition])
        assert [record.value for record in read(consumer, 2)] == [1, 2]
        with pytest.raises(DeserializationError) as error:
            consumer.poll(60)
        assert error.value.offset == 2
        consumer.seek(topic_partition, error.value.offset + 1)
        assert [record.value for record in read(consumer, 1)] == [4]


def test_a_topic_that_appears_later_is_read(broker, topic_name):
    topic_name = f"{topic_name}-later"
    topic_partition = TopicPartition(topic_name, 0)
    with make(broker) as consumer:
        consumer.assign([topic_partition])
        assert consumer.poll(0.1) == {}
        fill(broker, topic_name, 3)
        assert len(read(consumer, 3)) == 3


def test_misuse_is_named(broker, topic_name):
    with make(broker) as consumer:
        with pytest.raises(LocalError, match="subscribe"):
            consumer.poll(0)
        with pytest.raises(LocalError, match=r"group\.id"):
            consumer.subscribe([topic_name])
        with pytest.raises(LocalError, match=r"group\.id"):
            consumer.commit({TopicPartition(topic_name, 0): 1})
        with pytest.raises(ConfigError):
            make(broker, max_poll_recordz=1)
    with pytest.raises(ClosedError):
        consumer.poll(0)


def test_arguments_of_a_wrong_type_are_named(broker, topic_name):
    topic_partition = TopicPartition(topic_name, 0)
    with make(broker, group_id=topic_name) as consumer:
        consumer.assign([topic_partition])
        for timeout in (None, "1"):
            with pytest.raises(TypeError, match="number of seconds"):
                consumer.poll(timeout)
        with pytest.raises(TypeError, match="mapping"):
            consumer.commit([topic_partition])
        with pytest.raises(TypeError, match="an offset must be"):
            consumer.commit({topic_partition: "5"})
        with pytest.raises(TypeError, match="an offset must be"):
            consumer.seek(topic_partition, "5")


def test_partitions_are_given_one_by_one_or_as_a_list(broker):
    topic_name = broker.topic(partitions=2)
    topic_partitions = [TopicPartition(topic_name, 0), TopicPartition(topic_name, 1)]
    with make(broker, group_id=topic_name) as consumer:
        consumer.assign(topic_partitions)
        consumer.commit(dict.fromkeys(topic_partitions, 0))
        assert (
            consumer.committed(*topic_partitions)
            == consumer.committed(topic_partitions)
            == consumer.committed()
        )
        assert consumer.committed([]) == {}
        consumer.pause(topic_partitions)
        assert consumer.paused() == set(topic_partitions)
        consumer.resume(set(topic_partitions))
        assert consumer.paused() == set()
        consumer.seek_to_beginning(topic_partitions)
        assert repr(consumer).endswith(f"group.id={topic_name!r}>")


def test_a_broker_restart_is_ridden_out(tmp_path):
    topic_name = "t"
    with Broker(data_dir=tmp_path) as first:
        port = first.port
        fill(first, topic_name, 5)
        consumer = make(first)
        consumer.assign([(topic_name, 0)])
        read(consumer, 5)
    with Broker(data_dir=tmp_path, port=port) as second:
        fill(second, topic_name, 5)
        assert [record.offset for record in read(consumer, 5, 20)] == list(range(5, 10))
        consumer.close()
