"""The short paths of Produce and Fetch return and store the same bytes as the handlers.

Each request is sent twice: to a topic through the short path, and to a second topic, with the same
settings and the same records, through the ordinary path. The request log at DEBUG switches the
short paths off. Responses and log files must be equal, except for name and id of the topic.
"""

import asyncio
import itertools
import logging
import struct
from dataclasses import dataclass, replace
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.network.requests import create_topic, fetch_request, produce_request
from support.wire.peer import WirePeer

from barnabas.broker import composition
from barnabas.broker.app import Broker
from barnabas.broker.config import BrokerConfig
from barnabas.broker.handlers._single_produce_hot import serve_single
from barnabas.model.records import Codec
from barnabas.records.builder import build_batch
from barnabas.runtime.clock import SystemClock
from barnabas.wire.headers import RequestHeader, encode_request

NOW_MS = 1_700_000_000_000
REQUEST_LOG = logging.getLogger("barnabas.request")
NUMBERS = itertools.count(1)
TOPIC_SETTINGS = (
    {},
    {},
    {"index_interval_bytes": "100"},
    {"segment_bytes": "600"},
    {"max_message_bytes": "200"},
    {"message_timestamp_type": "LogAppendTime", "segment_bytes": "600"},
    {"compression_type": "lz4"},
    {"cleanup_policy": "compact"},
    {"min_insync_replicas": "2"},
    {"message_timestamp_before_max_ms": "1000"},
)


@dataclass(frozen=True)
class Write:
    """One Produce request; `damage` is the position of a byte that is changed."""

    version: int
    acks: int
    values: tuple[bytes, ...]
    partition: int = 0
    codec: Codec = Codec.NONE
    producer: tuple[int, int] | None = None
    transactional: bool = False
    damage: int | None = None
    client_id: str | None = "client"

    def request(self, topic, topic_id):
        fields = {}
        if self.producer is not None:
            fields = {"producer_id": 7, "producer_epoch": self.producer[0]}
            fields["base_sequence"] = self.producer[1]
        records = bytearray(
            build_batch(
                [(None, value) for value in self.values],
                timestamp_ms=NOW_MS,
                codec=self.codec,
                transactional=self.transactional and self.producer is not None,
                **fields,
            )
        )
        if self.damage is not None:
            records[self.damage % len(records)] ^= 0x21
        request = produce_request(topic, bytes(records), partition=self.partition, acks=self.acks)
        request.topic_data[0].topic_id = topic_id
        return request


@dataclass(frozen=True)
class Read:
    """One Fetch request without a session."""

    version: int
    offset: int
    max_bytes: int
    isolation: int = 0
    partition: int = 0
    min_bytes: int = 1
    leader_epoch: int = -1
    client_id: str | None = "client"

    def request(self, topic, topic_id):
        request = fetch_request(
            topic,
            self.offset,
            partition=self.partition,
            max_bytes=self.max_bytes,
            isolation_level=self.isolation,
            min_bytes=self.min_bytes,
        )
        request.topics[0].topic_id = topic_id
        request.topics[0].partitions[0].current_leader_epoch = self.leader_epoch
        return request


CLIENT_IDS = st.sampled_from(["client", "", None, "kölner"])
VALUES = st.lists(st.binary(max_size=60), min_size=1, max_size=4).map(tuple)
PLAIN_WRITES = st.builds(
    Write,
    version=st.integers(3, 13),
    acks=st.sampled_from([-1, 1]),
    values=VALUES,
    client_id=CLIENT_IDS,
)
IDEMPOTENT_WRITES = st.builds(
    Write,
    version=st.integers(9, 13),
    acks=st.just(-1),
    values=st.just((b"v",)),
    producer=st.tuples(st.just(0), st.integers(0, 3)),
)
OTHER_WRITES = st.builds(
    Write,
    version=st.integers(3, 13),
    acks=st.sampled_from([-1, 1, 2]),
    values=VALUES,
    partition=st.sampled_from([0, 0, 0, 1]),
    codec=st.sampled_from([Codec.NONE, Codec.NONE, Codec.GZIP]),
    producer=st.none() | st.tuples(st.integers(0, 1), st.integers(0, 6)),
    transactional=st.booleans(),
    damage=st.none() | st.integers(0, 200),
    client_id=CLIENT_IDS,
)
COMMON_READS = st.builds(
    Read,
    version=st.integers(12, 17),
    offset=st.integers(0, 8),
    max_bytes=st.integers(60, 400),
    isolation=st.integers(0, 1),
)
READS = st.builds(
    Read,
    version=st.integers(4, 17),
    offset=st.integers(-1, 12),
    max_bytes=st.sampled_from([0, 1, 100, 300, 1 << 20]),
    isolation=st.integers(0, 1),
    partition=st.sampled_from([0, 0, 0, 1]),
    min_bytes=st.sampled_from([0, 1, 1, 10_000]),
    leader_epoch=st.sampled_from([-1, -1, 0, 1, 5]),
    client_id=CLIENT_IDS,
)


class StandingClock(SystemClock):
    """A wall clock that stands still, so that both topics get the same append times."""

    def now_ms(self):
        return NOW_MS + 5


class World:
    """A broker on its own loop, and the number of requests that each short path served."""

    def __init__(self, directory):
        self.directory = directory
        self.runner = asyncio.Runner()
        self.answered = {"produce": 0, "fetch": 0}

    def __enter__(self):
        handlers = [self._counted(handler) for handler in composition.HANDLERS]
        with mock.patch.object(composition, "HANDLERS", handlers):
            self.runner.run(self._start())
        return self

    def __exit__(self, *_error):
        self.runner.run(self._stop())
        self.runner.close()

    def _counted(self, handler):
        """Returns a handler that counts the requests which its short path serves."""
        if handler.short is None:
            return handler

        def counted(*arguments):
            reply = handler.short(*arguments)
            self.answered[handler.api.name.lower()] += reply is not None
            return reply

        return replace(handler, short=counted)

    async def _start(self):
        given = {"listeners": "PLAINTEXT://127.0.0.1:0", "log.dirs": str(self.directory)}
        self.broker = Broker(BrokerConfig.parse(given), clock=StandingClock())
        await self.broker.start()
        self.peer = await WirePeer.connect(self.broker.port)

    async def _stop(self):
        await self.peer.close()
        await self.broker.stop()

    async def compare(self, topic_settings, operations):
        number = next(NUMBERS)
        names = f"short-{number:04}", f"plain-{number:04}"
        ids = [await create_topic(self.peer, name, **topic_settings) for name in names]
        for operation in operations:
            answers = [
                await self._answer(operation, name, topic_id, short=name is names[0])
                for name, topic_id in zip(names, ids, strict=True)
            ]
            hidden = [
                answer.replace(name.encode(), b"T" * len(name)).replace(topic_id, b"I" * 16)
                for answer, name, topic_id in zip(answers, names, ids, strict=True)
            ]
            assert hidden[0] == hidden[1], operation
        stored = [self._files(name) for name in names]
        assert stored[0] == stored[1]

    async def _answer(self, operation, name, topic_id, *, short):
        request = operation.request(name, topic_id)
        header = RequestHeader(request.API_KEY, operation.version, 1, operation.client_id)
        frame = b"".join(bytes(part) for part in encode_request(header, request))
        REQUEST_LOG.setLevel(logging.INFO if short else logging.DEBUG)
        try:
            self.peer.writer.write(frame)
            return await asyncio.wait_for(self.peer.receive_frame(), 60)
        finally:
            REQUEST_LOG.setLevel(logging.NOTSET)

    def _files(self, topic):
        found = sorted((self.directory / f"{topic}-0").glob("*.log"))
        return {path.name: path.read_bytes() for path in found}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with World(tmp_path_factory.mktemp("short-paths")) as running:
        yield running


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(TOPIC_SETTINGS),
    st.lists(PLAIN_WRITES | IDEMPOTENT_WRITES, max_size=8),
    st.lists(
        PLAIN_WRITES | IDEMPOTENT_WRITES | OTHER_WRITES | COMMON_READS | READS,
        min_size=1,
        max_size=12,
    ),
)
def test_equal_responses_and_logs(world, topic_settings, first, then):
    world.runner.run(world.compare(topic_settings, [*first, *then]))


def test_the_short_paths_serve_the_common_requests(world):
    """Otherwise the comparison above would compare the handlers with themselves."""
    world.answered.update(produce=0, fetch=0)
    writes = [Write(version, acks, (b"v",)) for version in range(9, 14) for acks in (-1, 1)]
    first = Write(9, 1, (b"first",))  # the first append opens the segment
    reads = [Read(version, 3, 1 << 20) for version in range(12, 18)]
    world.runner.run(world.compare({}, [first, *writes, *reads]))
    assert world.answered == {"produce": len(writes), "fetch": len(reads)}


def test_a_truncated_frame_is_left_to_the_handler():
    """For a prefix of a request the short path returns None and raises no error."""
    request = Write(9, -1, (b"value",)).request("topic", bytes(16))
    parts = encode_request(RequestHeader(request.API_KEY, 9, 1, "client"), request)
    frame = b"".join(bytes(part) for part in parts)[4:]
    for size in range(len(frame)):
        assert serve_single(None, memoryview(bytearray(frame[:size]))) is None
    (length,) = struct.unpack_from(">h", frame, 8)
    assert length == len("client")
