"""Large requests: decoded and encoded in a thread, served in slices on the loop."""

import asyncio
import gc
import itertools
import sys
import threading
import weakref
from functools import partial
from types import SimpleNamespace

import pytest

from barnabas.broker.api_versions import ApiVersionsResponses
from barnabas.broker.dispatch import Dispatcher
from barnabas.broker.handler import Handler
from barnabas.broker.large_requests import LargeRequests
from barnabas.broker.metrics.component_catalog import REQUEST_ERRORS
from barnabas.broker.metrics.request_metrics import RequestMetrics
from barnabas.broker.request_limits import (
    ERROR_RESPONSE_FACTOR,
    LARGE_RESPONSE,
    SLICED,
    SPARE_ELEMENTS,
    element_limit,
    merge_duplicates,
    merge_fetch,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.net.close_reasons import CloseReason
from barnabas.runtime.metrics import Registry
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.headers import RequestHeader, decode_response_header, encode_request
from barnabas.wire.messages.describe_groups import DescribeGroupsRequest
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from barnabas.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from barnabas.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from barnabas.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

TOPICS = 12_000


def far_above(api):
    """Elements of a request whose connection is closed, without an error response."""
    return ERROR_RESPONSE_FACTOR * element_limit(api, known_partitions=1) + 1


class World:
    """A dispatcher with one handler, and a count of the loop's turns."""

    def __init__(self, api, version, handle):
        self.refused = []
        self.turns = 0
        self.interpreter_settings = set()
        self.connection = SimpleNamespace(
            received_ns=0,
            stream=SimpleNamespace(peer=("h", 1)),
            close_with_reason=lambda *reason: self.refused.append(reason),
        )
        handlers = [
            Handler(api, (version, version), handle),
            Handler(ApiKey.API_VERSIONS, (0, 4), handle),
        ]
        metadata = SimpleNamespace(topics=lambda: ["t"], partitions=lambda _: {0: "state"})
        services = SimpleNamespace(api_versions=ApiVersionsResponses(handlers), metadata=metadata)
        self.version = version
        self._registry = Registry()
        metrics = RequestMetrics(self._registry)
        self.dispatch = Dispatcher(handlers, services, metrics=metrics)

    def errors(self):
        """The counted errors by API and error code."""
        return dict(self._registry.find(REQUEST_ERRORS.prometheus_name).samples())

    async def call(self, request):
        header = RequestHeader(request.API_KEY, self.version, 7, "client")
        data = b"".join(bytes(part) for part in encode_request(header, request))
        turning = asyncio.ensure_future(self._turn())
        reply = self.dispatch(self.connection, memoryview(bytearray(data))[4:])
        await self.dispatch.drain(60)
        turning.cancel()
        return reply

    async def _turn(self):
        while True:
            await asyncio.sleep(0)
            self.turns += 1
            self.interpreter_settings.add((sys.getswitchinterval(), gc.isenabled()))


def names_of(reply, version):
    frame = memoryview(b"".join(bytes(part) for part in reply.parts))[4:]
    _, position = decode_response_header(frame, 3, version)
    return [topic.name for topic in MetadataResponse.decode(frame, version, position).topics]


async def test_a_large_request_is_served_in_slices_with_turns_of_the_loop_between():
    seen = []

    def handle(_, request):
        seen.append((len(request.topics), world.turns))
        topics = [MetadataResponseTopic(0, topic.name) for topic in request.topics]
        return MetadataResponse(topics=topics)

    world = World(ApiKey.METADATA, 9, handle)
    asked = [f"topic-{number}" for number in range(TOPICS)]
    reply = await world.call(MetadataRequest([MetadataRequestTopic(name=name) for name in asked]))
    assert names_of(reply, 9) == asked
    slice_size = SLICED[ApiKey.METADATA][0].size
    assert [size for size, _ in seen] == [slice_size] * (TOPICS // slice_size)
    turns = [turn for _, turn in seen]
    assert all(later > earlier for earlier, later in itertools.pairwise(turns))


async def test_an_ordinary_request_with_more_elements_than_a_slice_is_served_in_slices():
    """It is small enough to be decoded on the loop; the others are served between its slices."""
    seen = []

    def handle(_, request):
        seen.append(([topic.name for topic in request.topics], world.turns))
        return MetadataResponse(topics=[MetadataResponseTopic(0, t.name) for t in request.topics])

    world = World(ApiKey.METADATA, 9, handle)
    size = SLICED[ApiKey.METADATA][0].size
    asked = [f"topic-{number}" for number in range(size + 10)]
    topics = [MetadataRequestTopic(name=name) for name in (*asked, asked[0])]
    reply = await world.call(MetadataRequest(topics))
    assert names_of(reply, 9) == asked, "a repeated name has one result, also in another slice"
    assert [names for names, _ in seen] == [asked[:size], asked[size:]]
    (_, first), (_, second) = seen
    assert second > first


@pytest.mark.parametrize("way", ["at once", "awaited", "deferred"])
@pytest.mark.parametrize("topics", [LARGE_RESPONSE, LARGE_RESPONSE + 1])
async def test_a_large_response_to_a_small_request_is_encoded_in_a_thread(monkeypatch, way, topics):
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    response = MetadataResponse(
        topics=[MetadataResponseTopic(code, f"t{n}") for n in range(topics)]
    )
    threads = []
    encode = MetadataResponse.encode
    monkeypatch.setattr(
        MetadataResponse,
        "encode",
        lambda *arguments: threads.append(threading.current_thread()) or encode(*arguments),
    )

    async def awaited():
        return response

    def handle(ctx, _):
        if way == "deferred":
            deferred = ctx.defer()
            asyncio.get_running_loop().call_soon(deferred.respond, response)
            return deferred
        return awaited() if way == "awaited" else response

    world = World(ApiKey.METADATA, 9, handle)
    reply = await world.call(MetadataRequest(None))
    while way == "deferred" and not reply.ready:
        await asyncio.sleep(0)
    parts = reply if isinstance(reply, list) else reply.parts
    assert names_of(SimpleNamespace(parts=parts), 9) == [f"t{n}" for n in range(topics)]
    here = threading.current_thread()
    assert [thread is here for thread in threads] == [topics <= LARGE_RESPONSE]
    assert world.errors() == {("Metadata", code.name): topics}


async def test_the_settings_of_the_interpreter_stay_as_they_are():
    def handle(_, request):
        return MetadataResponse(topics=[MetadataResponseTopic(0, t.name) for t in request.topics])

    world = World(ApiKey.METADATA, 9, handle)
    names = [f"topic-{number}" for number in range(TOPICS)]
    await world.call(MetadataRequest([MetadataRequestTopic(name=name) for name in names]))
    assert world.interpreter_settings == {(sys.getswitchinterval(), gc.isenabled())}


async def test_errors_of_a_large_response_are_counted_once():
    """Also those of several slices, and that of a request above its limit."""

    def handle(_, request):
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return MetadataResponse(
            topics=[MetadataResponseTopic(code, t.name) for t in request.topics]
        )

    world = World(ApiKey.METADATA, 9, handle)
    names = [f"topic-{number}" for number in range(TOPICS)]
    await world.call(MetadataRequest([MetadataRequestTopic(name=name) for name in names]))
    assert world.errors() == {("Metadata", "UNKNOWN_TOPIC_OR_PARTITION"): TOPICS}
    world = World(ApiKey.PRODUCE, 9, lambda *_: pytest.fail("was served"))
    above = element_limit(ApiKey.PRODUCE, 1) + 1
    await world.call(produce_request(1, above))
    assert world.errors() == {("Produce", "UNKNOWN_TOPIC_OR_PARTITION"): above}


async def test_repeated_names_are_served_once():
    calls = []

    def handle(_, request):
        calls.append(len(request.topics))
        return MetadataResponse(topics=[MetadataResponseTopic(0, t.name) for t in request.topics])

    world = World(ApiKey.METADATA, 9, handle)
    reply = await world.call(MetadataRequest([MetadataRequestTopic(name="orders")] * TOPICS))
    assert calls == [1]
    assert names_of(reply, 9) == ["orders"]


async def test_a_fetch_that_repeats_a_partition_is_served_once():
    served = []

    def handle(_, request):
        served.append([len(topic.partitions) for topic in request.topics])
        return FetchResponse()

    world = World(ApiKey.FETCH, 12, handle)
    partitions = [FetchPartition(0, fetch_offset=n) for n in range(TOPICS)]
    reply = await world.call(FetchRequest(topics=[FetchTopic("t", partitions=partitions)]))
    assert served == [[1]]
    assert reply.ready


async def test_a_fetch_of_far_more_partitions_than_there_are_is_rejected():
    world = World(ApiKey.FETCH, 12, lambda *_: pytest.fail("was served"))
    partitions = [FetchPartition(number) for number in range(far_above(ApiKey.FETCH))]
    await world.call(FetchRequest(topics=[FetchTopic("t", partitions=partitions)]))
    assert [reason for reason, _ in world.refused] == [CloseReason.MALFORMED]


@pytest.mark.parametrize("topics", [far_above(ApiKey.OFFSET_COMMIT), 1])
async def test_a_commit_of_far_more_partitions_than_there_are_is_rejected(topics):
    world = World(ApiKey.OFFSET_COMMIT, 8, lambda *_: pytest.fail("was served"))
    each = far_above(ApiKey.OFFSET_COMMIT) // topics
    partitions = [OffsetCommitRequestPartition(number) for number in range(each if each > 1 else 0)]
    commit = OffsetCommitRequest(
        topics=[OffsetCommitRequestTopic("t", partitions=partitions)] * topics
    )
    await world.call(commit)
    assert [reason for reason, _ in world.refused] == [CloseReason.MALFORMED]


@pytest.mark.parametrize("served", [True, False])
async def test_the_thread_frees_the_objects_of_a_request(monkeypatch, served):
    threads = set()

    class Witness(str):
        """A name that notes the thread in which it is freed."""

        __slots__ = ()

        def __del__(self):
            threads.add(threading.current_thread().name)

    def decode(*_):
        partitions = [
            FetchPartition(number) for number in range(10 if served else far_above(ApiKey.FETCH))
        ]
        return FetchRequest(topics=[FetchTopic(Witness("t"), partitions=partitions)])

    world = World(ApiKey.FETCH, 12, lambda *_: FetchResponse())
    monkeypatch.setattr(world.dispatch, "_decode_large", decode)
    monkeypatch.setattr(LargeRequests, "close", lambda _: None)  # would drop the waiting work
    partitions = [FetchPartition(number) for number in range(SPARE_ELEMENTS)]
    await world.call(FetchRequest(topics=[FetchTopic("t", partitions=partitions)]))
    assert len(world.refused) == (not served)
    while not threads:
        await asyncio.sleep(0.001)
    (name,) = threads
    assert name.startswith("barnabas-large-requests")


def produce_request(acks, partitions):
    data = [PartitionProduceData(number, bytes(61)) for number in range(partitions)]
    return ProduceRequest(acks=acks, topic_data=[TopicProduceData("t", partition_data=data)])


def partitions_of(reply):
    frame = memoryview(b"".join(bytes(part) for part in reply.parts))[4:]
    _, position = decode_response_header(frame, 0, 9)
    (topic,) = ProduceResponse.decode(frame, 9, position).responses
    return topic.partition_responses


async def test_a_produce_to_500_partitions_is_served_in_slices():
    """Its appends take some 40 ms together: other clients are served between the slices."""
    served = []

    def handle(_ctx, request):
        (topic,) = request.topic_data
        served.append(len(topic.partition_data))
        answers = [PartitionProduceResponse(data.index) for data in topic.partition_data]
        return ProduceResponse([TopicProduceResponse("t", partition_responses=answers)])

    world = World(ApiKey.PRODUCE, 9, handle)
    reply = await world.call(produce_request(-1, 500))
    assert served == [50] * 10
    assert [one.index for one in partitions_of(reply)] == list(range(500))


async def test_slices_that_wait_are_answered_together():
    """A Produce waits for its followers; the slices after it are served meanwhile."""
    waiting = []

    def handle(ctx, request):
        (topic,) = request.topic_data
        answers = [PartitionProduceResponse(data.index) for data in topic.partition_data]
        deferred = ctx.defer(pipelined=True)
        waiting.append(
            partial(
                deferred.respond,
                ProduceResponse([TopicProduceResponse("t", partition_responses=answers)]),
            )
        )
        if len(waiting) == slices:
            for respond in reversed(waiting):
                asyncio.get_running_loop().call_soon(respond)
        return deferred

    partitions = 2_000
    slices = partitions // SLICED[ApiKey.PRODUCE][0].size
    world = World(ApiKey.PRODUCE, 9, handle)
    reply = await world.call(produce_request(-1, partitions))
    assert len(waiting) == slices
    assert [one.index for one in partitions_of(reply)] == list(range(partitions))


@pytest.mark.parametrize("acks", [0, 1])
async def test_a_produce_above_the_limit_gets_a_response_only_if_it_expects_one(acks):
    world = World(ApiKey.PRODUCE, 9, lambda *_: pytest.fail("was served"))
    reply = await world.call(produce_request(acks, element_limit(ApiKey.PRODUCE, 1) + 1))
    if acks:
        codes = {one.error_code for one in partitions_of(reply)}
        assert codes == {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    else:
        assert reply.parts is None
        assert [reason for reason, _ in world.refused] == [CloseReason.MALFORMED]


async def test_a_malformed_large_request_closes_its_connection():
    world = World(ApiKey.METADATA, 9, lambda *_: pytest.fail("was served"))
    request = MetadataRequest([MetadataRequestTopic(name="")] * 500_000)
    await world.call(request)
    assert [reason for reason, _ in world.refused] == [CloseReason.MALFORMED]


async def test_a_rejected_request_leaves_no_reference_to_its_frame():
    world = World(ApiKey.METADATA, 9, lambda *_: pytest.fail("was served"))
    request = MetadataRequest([MetadataRequestTopic(name="")] * 500_000)
    header = RequestHeader(request.API_KEY, world.version, 7, "client")
    frame = memoryview(b"".join(encode_request(header, request)))[4:]
    watched = weakref.ref(frame)
    gc.disable()
    try:
        world.dispatch(world.connection, frame)
        del frame
        await world.dispatch.drain(60)
        while watched() is not None and world.turns < 1_000:
            await asyncio.sleep(0)  # the thread may still be about to drop its last references
            world.turns += 1
        assert world.refused
        assert watched() is None
    finally:
        gc.enable()


def test_the_last_mention_of_a_partition_counts():
    topics = [
        FetchTopic("a", partitions=[FetchPartition(0, fetch_offset=1), FetchPartition(1)]),
        FetchTopic("a", partitions=[FetchPartition(0, fetch_offset=5)]),
    ]
    request = FetchRequest(topics=topics)
    merge_fetch(request)
    (topic,) = request.topics
    assert {p.partition: p.fetch_offset for p in topic.partitions} == {0: 5, 1: 0}


def test_groups_are_described_once_in_their_order():
    request = DescribeGroupsRequest(["b", "a", "b", "a"])
    merge_duplicates(ApiKey.DESCRIBE_GROUPS, request)
    assert request.groups == ["b", "a"]
