"""Invalid responses of a broker: typed errors, no hang, and never a silent reset to offset 0."""

import asyncio

import pytest
from support.clients.scripted_kafka import ScriptedKafka

from barnabas.aio import Consumer
from barnabas.clients.group.errors import LogTruncationError
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, CorruptRecordError, DeadlineError, ProtocolError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.records.builder import BatchBuilder
from barnabas.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from barnabas.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from barnabas.wire.messages.metadata import MetadataRequest
from barnabas.wire.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)

pytestmark = pytest.mark.integration

TOPIC_PARTITION = TopicPartition("t", 0)
ID = Uuid(b"0123456789abcdef")


def batch(first, count, epoch=0):
    builder = BatchBuilder(base_offset=first, partition_leader_epoch=epoch)
    for number in range(first, first + count):
        builder.append(None, b"%d" % number, (), timestamp_ms=1)
    return bytes(builder.build())


def listed(offset, code=0, name="t", index=0):
    item = ListOffsetsPartitionResponse(partition_index=index, offset=offset, error_code=code)
    return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name=name, partitions=[item])])


def fetched(records=b"", session_id=0, **more):
    fields = {"high_watermark": 100, "last_stable_offset": 100, "log_start_offset": 0, **more}
    item = PartitionData(partition_index=0, records=records, **fields)
    return FetchResponse(
        session_id=session_id,
        responses=[FetchableTopicResponse(topic="t", topic_id=ID, partitions=[item])],
    )


def log_of(count, epoch=0):
    """Serves a log of `count` records in batches of ten."""

    def answer(node, request):
        if not request.topics:
            return FetchResponse()
        offset = request.topics[0].partitions[0].fetch_offset
        if offset >= count:
            return fetched()
        return fetched(batch(offset, min(10, count - offset), epoch))

    return answer


@pytest.fixture
async def kafka():
    async with ScriptedKafka() as running:
        running.topics["t"] = [1]
        running.topic_ids["t"] = ID
        running.on(ListOffsetsRequest, listed(0))
        running.on(FetchRequest, log_of(30))
        yield running


def make(kafka, **more):
    settings = {
        "bootstrap.servers": kafka.bootstrap_servers,
        "auto.offset.reset": "earliest",
        "fetch.max.wait.ms": 10,
        "retry.backoff.ms": 10,
        **more,
    }
    return Consumer(settings)


async def read(consumer, count):
    offsets = []
    async with asyncio.timeout(60):
        while len(offsets) < count:
            found = await consumer.poll(60)
            offsets += [record.offset for records in found.values() for record in records]
    return offsets


async def test_the_script_is_a_broker(kafka):
    async with make(kafka) as consumer:
        consumer.assign([TOPIC_PARTITION])
        assert await read(consumer, 30) == list(range(30))


@pytest.mark.parametrize("offset", [-1, -2, -(2**63)])
async def test_a_negative_offset_is_no_position(kafka, offset):
    kafka.on(ListOffsetsRequest, listed(offset))
    async with make(kafka) as consumer:
        consumer.assign([TOPIC_PARTITION])
        with pytest.raises(ProtocolError):
            await consumer.poll(60)
        assert kafka.asked(FetchRequest) == []
        with pytest.raises(ProtocolError):
            await consumer.position(TOPIC_PARTITION, timeout=2)


@pytest.mark.parametrize("answer", [listed(0, name="other"), listed(0, index=7)])
async def test_a_response_without_the_requested_partition_is_an_error(kafka, answer):
    kafka.on(ListOffsetsRequest, answer)
    async with make(kafka) as consumer:
        consumer.assign([TOPIC_PARTITION])
        assert await consumer.poll(0.2) == {}
        assert kafka.asked(FetchRequest) == []
        with pytest.raises(BarnabasError):
            await consumer.end_offsets([TOPIC_PARTITION], timeout=0.3)


async def test_records_below_the_position_are_not_returned_again(kafka):
    kafka.on(FetchRequest, lambda node, request: fetched(batch(0, 20)))
    async with make(kafka) as consumer:
        consumer.assign([TOPIC_PARTITION])
        consumer.seek(TOPIC_PARTITION, 15)
        assert await read(consumer, 5) == [15, 16, 17, 18, 19]
        with pytest.raises(ProtocolError, match="no whole batch"):
            await consumer.poll(60)
        assert await consumer.position(TOPIC_PARTITION) == 20


@pytest.mark.parametrize("records", [b"\x00" * 100, b"\xff" * 100, b"short"])
async def test_bytes_that_are_no_batch(kafka, records):
    kafka.on(FetchRequest, fetched(records))
    async with make(kafka) as consumer:
        consumer.assign([TOPIC_PARTITION])
        with pytest.raises((ProtocolError, CorruptRecordError)):
            await consumer.poll(60)
        assert await consumer.position(TOPIC_PARTITION) == 0


async def test_a_wrong_checksum_stays_in_the_way(kafka):
    broken = bytearray(batch(0, 3))
    broken[-1] ^= 1
    kafka.on(FetchRequest, fetched(bytes(broken)))
    async with make(kafka) as consumer:
        consumer.assign([TOPIC_PARTITION])
        for _ in range(2):
            with pytest.raises(CorruptRecordError):
                await consumer.poll(60)
        assert await consumer.position(TOPIC_PARTITION) == 0


async def test_sessions_that_come_and_go(kafka):
    """The broker forgets the session at every third request."""
    seen = []

    def answer(node, request):
        seen.append((request.session_id, request.session_epoch))
        if len(seen) % 3 == 0:
            return FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        response = log_of(60)(node, request)
        response.session_id = 99
        return response

    kafka.on(FetchRequest, answer)
    async with make(kafka) as consumer:
        consumer.assign([TOPIC_PARTITION])
        assert await read(consumer, 60) == list(range(60))
    assert seen[:4] == [(0, 0), (99, 1), (99, 2), (0, 0)]


# -- leaders, epochs, replicas -------------------------------------------------------------------


def with_epoch(kafka, epoch):
    plain = kafka._metadata

    def answer(node, request):
        response = plain(node, request)
        for topic in response.topics:
            for partition in topic.partitions:
                partition.leader_epoch = epoch()
        return response

    kafka.on(MetadataRequest, answer)


def epoch_ends(epoch, end):
    item = EpochEndOffset(partition=0, leader_epoch=epoch, end_offset=end)
    return OffsetForLeaderEpochResponse(
        topics=[OffsetForLeaderTopicResult(topic="t", partitions=[item])]
    )


@pytest.fixture
async def elected(kafka):
    """A leader change after 30 records: the fetch is fenced until metadata shows epoch 2."""
    epoch = [1]
    with_epoch(kafka, lambda: epoch[0])

    def answer(node, request):
        part = request.topics[0].partitions[0] if request.topics else None
        if part is not None and part.fetch_offset >= 30 and part.current_leader_epoch == 1:
            epoch[0] = 2
            return fetched(error_code=ErrorCode.FENCED_LEADER_EPOCH)
        return log_of(40, epoch=epoch[0])(node, request)

    kafka.on(FetchRequest, answer)
    return kafka


async def test_a_position_on_the_new_leaders_log_goes_on(elected):
    elected.on(OffsetForLeaderEpochRequest, epoch_ends(1, 30))
    async with make(elected, **{"auto.offset.reset": "none"}) as consumer:
        consumer.assign([TOPIC_PARTITION])
        consumer.seek(TOPIC_PARTITION, 0)
        assert await read(consumer, 40) == list(range(40))
    (_, request), *_ = elected.asked(OffsetForLeaderEpochRequest)
    part = request.topics[0].partitions[0]
    assert (part.leader_epoch, part.current_leader_epoch) == (1, 2)


@pytest.mark.parametrize(("end", "divergent"), [((1, 22), 22), ((-1, -1), None)])
async def test_truncation_is_an_error_without_a_reset_policy(elected, end, divergent):
    elected.on(OffsetForLeaderEpochRequest, epoch_ends(*end))
    async with make(elected, **{"auto.offset.reset": "none"}) as consumer:
        consumer.assign([TOPIC_PARTITION])
        consumer.seek(TOPIC_PARTITION, 0)
        await read(consumer, 30)
        with pytest.raises(LogTruncationError) as error:
            await consumer.poll(60)
        assert (error.value.offset, error.value.divergent_offset) == (30, divergent)
        assert await consumer.position(TOPIC_PARTITION) == 30


async def test_truncation_with_a_policy_goes_on_where_the_logs_part(elected):
    elected.on(OffsetForLeaderEpochRequest, epoch_ends(1, 22))
    async with make(elected) as consumer:
        consumer.assign([TOPIC_PARTITION])
        assert await read(consumer, 30 + 18) == [*range(30), *range(22, 40)]


async def test_the_consumer_reads_from_the_preferred_replica(kafka):
    async with ScriptedKafka(2) as cluster:
        cluster.topics["t"], cluster.topic_ids["t"] = [1], ID
        cluster.on(ListOffsetsRequest, listed(0))

        def answer(node, request):
            if node == 1:
                return fetched(preferred_read_replica=2)
            return log_of(20)(node, request)

        cluster.on(FetchRequest, answer)
        async with make(cluster, **{"client.rack": "near"}) as consumer:
            consumer.assign([TOPIC_PARTITION])
            assert await read(consumer, 20) == list(range(20))
        first = cluster.asked(FetchRequest)[0][1]
        assert first.rack_id == "near"
        assert {node for node, _ in cluster.asked(FetchRequest)} == {1, 2}


async def test_out_of_range_on_a_near_replica_is_the_leaders_to_decide(kafka):
    async with ScriptedKafka(2) as cluster:
        cluster.topics["t"], cluster.topic_ids["t"] = [1], ID
        cluster.on(ListOffsetsRequest, listed(0))
        redirected = []

        def answer(node, request):
            if node == 2:
                return fetched(error_code=ErrorCode.OFFSET_OUT_OF_RANGE)
            if not redirected:
                redirected.append(True)
                return fetched(preferred_read_replica=2)
            return log_of(20)(node, request)

        cluster.on(FetchRequest, answer)
        async with make(cluster, **{"auto.offset.reset": "none"}) as consumer:
            consumer.assign([TOPIC_PARTITION])
            consumer.seek(TOPIC_PARTITION, 5)
            assert await read(consumer, 15) == list(range(5, 20))


async def test_a_topic_that_is_gone_is_waited_for(kafka):
    del kafka.topics["t"]
    async with make(kafka) as consumer:
        consumer.assign([TOPIC_PARTITION])
        assert await consumer.poll(0.2) == {}
        assert len(kafka.asked(MetadataRequest)) < 30, "not in a hot loop"
        with pytest.raises(DeadlineError, match="UNKNOWN_TOPIC"):
            await consumer.partitions_for("t", timeout=0.2)
