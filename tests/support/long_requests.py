"""Sends one kind of very long request repeatedly, from a separate process.

Usage: python -m support.long_requests PORT KIND SECONDS
Prints how many requests were answered and refused, and the seconds that one took.
"""

import asyncio
import json
import struct
import sys
import time
import zlib

from barnabas.model.records import Codec
from barnabas.records.batch import write_crc
from barnabas.records.builder import build_batch
from barnabas.wire.headers import RequestHeader, encode_request
from barnabas.wire.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from barnabas.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from barnabas.wire.messages.incremental_alter_configs import (
    AlterableConfig as IncrementalConfig,
)
from barnabas.wire.messages.incremental_alter_configs import (
    AlterConfigsResource as IncrementalResource,
)
from barnabas.wire.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from barnabas.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from barnabas.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

TOPIC = "long"
DECOMPRESSED = 60 << 20
_HEADER_BYTES = 61
_TOPIC_TYPE = 2


def create_topics():
    """Validate-only, with 100,000 topics."""
    topics = [CreatableTopic(f"name-{n}", 1, 1) for n in range(100_000)]
    return CreateTopicsRequest(topics=topics, timeout_ms=60_000, validate_only=True), 7


def fetch():
    """One partition, named 300,000 times."""
    asked = FetchPartition(0, fetch_offset=0, partition_max_bytes=1 << 20)
    topics = [FetchTopic(topic=TOPIC, partitions=[asked] * 300_000)]
    return FetchRequest(topics=topics, max_wait_ms=0, min_bytes=0, session_epoch=-1), 11


def metadata():
    """One topic, named a million times."""
    return MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)] * 1_000_000), 8


def gzip_bomb():
    """A batch of 61 kB that decompresses to 60 MB."""
    plain = bytes(build_batch([(None, bytes(DECOMPRESSED))], timestamp_ms=1_700_000_000_000))
    packed = bytearray(plain[:_HEADER_BYTES]) + zlib.compress(plain[_HEADER_BYTES:], 9, wbits=31)
    struct.pack_into(">i", packed, 8, len(packed) - 12)
    struct.pack_into(">h", packed, 21, int(Codec.GZIP))
    write_crc(packed, 0, len(packed))
    data = [TopicProduceData(TOPIC, partition_data=[PartitionProduceData(0, bytes(packed))])]
    return ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=data), 9


def create_many_topics():
    """Validate-only, with as many topics as are decoded."""
    topics = [CreatableTopic(f"name-{n}", 1, 1) for n in range(44_000)]
    return CreateTopicsRequest(topics=topics, timeout_ms=60_000, validate_only=True), 7


def fetch_many():
    """One partition, as often as is decoded."""
    asked = FetchPartition(0, fetch_offset=0, partition_max_bytes=1 << 20)
    topics = [FetchTopic(topic=TOPIC, partitions=[asked] * 12_000)]
    return FetchRequest(topics=topics, max_wait_ms=0, min_bytes=0, session_epoch=-1), 11


def metadata_many():
    """One topic, as often as is decoded."""
    return MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)] * 20_000), 8


def offset_fetch():
    """One topic, with two million partitions."""
    topics = [OffsetFetchRequestTopic(TOPIC, list(range(2_000_000)))]
    return OffsetFetchRequest(group_id="group", topics=topics), 5


def alter_configs():
    """Validate-only, for 10,000 topics."""
    values = [AlterableConfig("retention.ms", "1")]
    resources = [AlterConfigsResource(_TOPIC_TYPE, f"name-{n}", values) for n in range(10_000)]
    return AlterConfigsRequest(resources=resources, validate_only=True), 2


def incremental_alter_configs():
    """Validate-only, for 10,000 topics."""
    values = [IncrementalConfig("retention.ms", 0, "1")]
    resources = [IncrementalResource(_TOPIC_TYPE, f"name-{n}", values) for n in range(10_000)]
    return IncrementalAlterConfigsRequest(resources=resources, validate_only=True), 1


KINDS = {
    kind.__name__: kind
    for kind in (
        create_topics,
        create_many_topics,
        fetch,
        fetch_many,
        metadata,
        metadata_many,
        offset_fetch,
        gzip_bomb,
        alter_configs,
        incremental_alter_configs,
    )
}


def frame_of(kind):
    message, version = KINDS[kind]()
    return b"".join(encode_request(RequestHeader(message.API_KEY, version, 1, "long"), message))


async def attack(port, kind, seconds):
    frame = frame_of(kind)
    counts, taken = {"answered": 0, "refused": 0}, []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        outcome = await exchange(port, frame)
        counts[outcome] += 1
        taken.append(time.monotonic() - begin)
    return {**counts, "seconds": round(sum(taken) / len(taken), 3)}


async def exchange(port, frame):
    """Sends one frame; returns whether it got a response or the connection was closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(frame)
        (size,) = struct.unpack(">i", await reader.readexactly(4))
        while size:
            size -= len(await reader.read(min(size, 1 << 20)))
    except (ConnectionError, asyncio.IncompleteReadError):
        return "refused"
    finally:
        writer.close()
    return "answered"


if __name__ == "__main__":
    given = sys.argv[1:]
    print(json.dumps(asyncio.run(attack(int(given[0]), given[1], float(given[2])))))
