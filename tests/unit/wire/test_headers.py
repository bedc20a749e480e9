import pytest

from barnabas.model.errors import LocalError, ProtocolError
from barnabas.wire import headers
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.api_versions import ApiVersionsResponse
from barnabas.wire.messages.controlled_shutdown import ControlledShutdownRequest
from barnabas.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from barnabas.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse


def joined(parts):
    return b"".join(bytes(part) for part in parts)


@pytest.mark.parametrize(
    ("key", "version", "request_header", "response_header"),
    [
        (ApiKey.CONTROLLED_SHUTDOWN, 0, 0, 0),
        (ApiKey.CONTROLLED_SHUTDOWN, 1, 1, 0),
        (ApiKey.CONTROLLED_SHUTDOWN, 3, 2, 1),
        (ApiKey.HEARTBEAT, 3, 1, 0),
        (ApiKey.HEARTBEAT, 4, 2, 1),
        (ApiKey.API_VERSIONS, 2, 1, 0),
        (ApiKey.API_VERSIONS, 4, 2, 0),
        (ApiKey.SASL_HANDSHAKE, 1, 1, 0),
        (ApiKey.CONSUMER_GROUP_HEARTBEAT, 0, 2, 1),
        (12345, 7, 1, 0),
    ],
)
def test_the_api_version_decides_the_header_version(key, version, request_header, response_header):
    assert headers.request_header_version(key, version) == request_header
    assert headers.response_header_version(key, version) == response_header


@pytest.mark.parametrize("version", [0, 3, 4])
@pytest.mark.parametrize("client_id", [None, "", "ünïcode"])
def test_a_request_is_decoded_as_it_was_encoded(version, client_id):
    message = HeartbeatRequest("group", 4, "member")
    header = headers.RequestHeader(ApiKey.HEARTBEAT, version, 99, client_id)
    frame = joined(headers.encode_request(header, message))
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    view = memoryview(frame)[4:]
    decoded, body = headers.decode_request_header(view)
    assert decoded == header
    assert HeartbeatRequest.decode(view, version, body) == message


def test_controlled_shutdown_v0_has_no_client_id():
    header = headers.RequestHeader(ApiKey.CONTROLLED_SHUTDOWN, 0, 5, "dropped")
    frame = joined(headers.encode_request(header, ControlledShutdownRequest(3)))
    assert frame.hex() == "0000000c" + "00070000" + "00000005" + "00000003"
    decoded, body = headers.decode_request_header(memoryview(frame)[4:])
    assert (decoded.client_id, body) == (None, 8)


@pytest.mark.parametrize(("version", "tags"), [(3, b""), (4, b"\0")])
def test_a_response_is_decoded_as_it_was_encoded(version, tags):
    message = HeartbeatResponse(0, 27)
    frame = joined(headers.encode_response(7, message, ApiKey.HEARTBEAT, version))
    assert frame[4:].startswith(b"\0\0\0\7" + tags)
    view = memoryview(frame)[4:]
    correlation_id, body = headers.decode_response_header(view, ApiKey.HEARTBEAT, version)
    assert correlation_id == 7
    assert HeartbeatResponse.decode(view, version, body) == message


def test_api_versions_response_has_the_old_header():
    frame = joined(headers.encode_response(1, ApiVersionsResponse(), ApiKey.API_VERSIONS, 3))
    assert frame[8:10] == b"\0\0"
    assert headers.decode_response_header(memoryview(frame)[4:], ApiKey.API_VERSIONS, 3) == (1, 4)


def test_records_stay_a_part_of_their_own():
    class Slice:
        def __len__(self):
            return 1 << 20

    records = Slice()
    topic = FetchableTopicResponse("t", partitions=[PartitionData(records=records)])
    parts = headers.encode_response(1, FetchResponse(responses=[topic]), ApiKey.FETCH, 12)
    assert records in parts
    assert int.from_bytes(parts[0][:4], "big") == sum(map(len, parts)) - 4


def test_tags_in_headers_are_skipped():
    raw = bytes.fromhex("000c0004" + "00000001" + "ffff" + "01" + "0503" + "aabbcc" + "0161")
    header, body = headers.decode_request_header(memoryview(raw))
    assert header.client_id is None
    assert raw[body:] == b"\x01a"


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param("", id="empty"),
        pytest.param("000c", id="cut in the fixed part"),
        pytest.param("000c0003" + "00000001" + "00", id="cut in the length"),
        pytest.param("000c0003" + "00000001" + "0004" + "61", id="client id past the end"),
        pytest.param("000c0003" + "00000001" + "0001" + "ff", id="client id not UTF-8"),
        pytest.param("000c0004" + "00000001" + "ffff", id="no tag section"),
        pytest.param("000c0004" + "00000001" + "ffff" + "01", id="cut in the tag section"),
    ],
)
def test_bad_request_header(raw):
    with pytest.raises(ProtocolError):
        headers.decode_request_header(memoryview(bytes.fromhex(raw)))


@pytest.mark.parametrize("raw", ["000000", "00000001", "0000000101"])
def test_bad_response_header(raw):
    with pytest.raises(ProtocolError):
        headers.decode_response_header(memoryview(bytes.fromhex(raw)), ApiKey.HEARTBEAT, 4)


def test_header_that_cannot_be_encoded():
    header = headers.RequestHeader(ApiKey.HEARTBEAT, 0, 1 << 40, "c")
    with pytest.raises(LocalError, match="correlation_id=1099511627776"):
        headers.encode_request(header, HeartbeatRequest())
