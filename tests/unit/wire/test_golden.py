"""Bytes that real clients sent, captured from a socket."""

import pytest

from barnabas.wire.headers import RequestHeader, decode_request_header
from barnabas.wire.messages.api_versions import ApiVersionsRequest
from barnabas.wire.messages.metadata import MetadataRequest

LIBRDKAFKA_ALL_TOPICS = {
    9: "00030009000000030006676f6c64656e00 0000000001000000",
    10: "0003000a000000030006676f6c64656e00 0000000001000000",
    12: "0003000c000000030006676f6c64656e00 00000000010000",
}


@pytest.mark.parametrize("version", LIBRDKAFKA_ALL_TOPICS)
def test_librdkafka_asks_for_all_topics_in_a_malformed_way(version):
    """It leaves an int32 where a one-byte null belongs (confluent-kafka 2.16.1, issue 5049).

    Read by the rules, v9 and v10 have one unknown tag and a stray byte, v12 three stray bytes.
    """
    frame = memoryview(bytes.fromhex(LIBRDKAFKA_ALL_TOPICS[version]))
    header, body = decode_request_header(frame)
    assert header == RequestHeader(3, version, 3, "golden")
    request = MetadataRequest.decode(frame, version, body)
    assert request == MetadataRequest(topics=None, allow_auto_topic_creation=False)


def test_librdkafka_asks_for_brokers_only():
    frame = memoryview(bytes.fromhex("0003000c000000020006676f6c64656e0001000000"))
    _, body = decode_request_header(frame)
    request = MetadataRequest.decode(frame, 12, body)
    assert request == MetadataRequest(topics=[], allow_auto_topic_creation=False)


def test_librdkafka_introduces_itself():
    frame = memoryview(
        bytes.fromhex(
            "00120003000000010006676f6c64656e00"
            "17636f6e666c75656e742d6b61666b612d707974686f6e"
            "16322e31362e312d72646b61666b612d322e31362e3000"
        )
    )
    header, body = decode_request_header(frame)
    assert header == RequestHeader(18, 3, 1, "golden")
    assert ApiVersionsRequest.decode(frame, 3, body) == ApiVersionsRequest(
        "confluent-kafka-python", "2.16.1-rdkafka-2.16.0"
    )
