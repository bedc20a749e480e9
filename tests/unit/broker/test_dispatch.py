"""Dispatcher: from frames to handlers and back, without a socket."""

import asyncio
import struct
from types import SimpleNamespace

import pytest

from barnabas.broker.api_versions import ApiVersionsResponses
from barnabas.broker.dispatch import Dispatcher
from barnabas.broker.handler import NO_RESPONSE, Handler
from barnabas.model.errors import ProtocolError
from barnabas.net.close_reasons import CloseReason, ConnectionClosedError
from barnabas.net.replies import PendingReply
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.headers import RequestHeader, encode_request
from barnabas.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from barnabas.wire.messages.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from barnabas.zk.tree import ConnectionLossError, SessionLostError


def frame(message, version, correlation=7):
    header = RequestHeader(message.API_KEY, version, correlation, "c")
    data = b"".join(bytes(part) for part in encode_request(header, message))
    return memoryview(bytearray(data))[4:]


def dispatcher(handle, api=ApiKey.LIST_OFFSETS, versions=(1, 3), **options):
    handlers = [
        Handler(api, versions, handle, **options),
        Handler(ApiKey.API_VERSIONS, (0, 4), lambda ctx, request: ApiVersionsResponse()),
    ]
    return Dispatcher(handlers, SimpleNamespace(api_versions=ApiVersionsResponses(handlers)))


def joined(parts):
    return b"".join(bytes(part) for part in parts)


CONNECTION = SimpleNamespace(received_ns=0, close_with_reason=None)
ASK = ListOffsetsRequest(replica_id=-1)


def test_a_response_is_encoded_in_the_version_of_its_request():
    serve = dispatcher(lambda ctx, request: ListOffsetsResponse(throttle_time_ms=9))
    assert joined(serve(CONNECTION, frame(ASK, 1))) == struct.pack(">iii", 8, 7, 0)
    assert joined(serve(CONNECTION, frame(ASK, 2))) == struct.pack(">iiii", 12, 7, 9, 0)


def test_no_response_is_none():
    assert dispatcher(lambda ctx, request: NO_RESPONSE)(CONNECTION, frame(ASK, 1)) is None


async def test_a_deferred_response_keeps_its_position_in_the_order():
    deferred = []

    def handle(ctx, request):
        deferred.append(ctx.defer())
        return deferred[0]

    reply = dispatcher(handle)(CONNECTION, frame(ASK, 1))
    assert isinstance(reply, PendingReply)
    assert not reply.ready
    deferred[0].respond(ListOffsetsResponse())
    assert joined(reply.parts) == struct.pack(">iii", 8, 7, 0)


async def test_a_coroutine_is_awaited():
    async def handle(ctx, request):
        await asyncio.sleep(0)
        return ListOffsetsResponse()

    serve = dispatcher(handle)
    reply = serve(CONNECTION, frame(ASK, 1))
    await serve.drain()
    assert joined(reply.parts) == struct.pack(">iii", 8, 7, 0)


@pytest.mark.parametrize("version", [0, 4])
def test_a_version_outside_the_range_closes(version):
    data = frame(ASK, 1)
    struct.pack_into(">h", data, 2, version)
    with pytest.raises(ConnectionClosedError) as refused:
        dispatcher(lambda ctx, request: None)(CONNECTION, data)
    assert refused.value.reason is CloseReason.UNSUPPORTED


def test_an_api_without_a_handler_closes():
    data = frame(ASK, 1)
    struct.pack_into(">h", data, 0, 3)
    with pytest.raises(ConnectionClosedError):
        dispatcher(lambda ctx, request: None)(CONNECTION, data)


def test_a_malformed_body_names_its_request():
    with pytest.raises(ProtocolError, match="LIST_OFFSETS v1 #7"):
        dispatcher(lambda ctx, request: None)(CONNECTION, frame(ASK, 1)[:-2])


def test_api_versions_that_is_too_new_gets_our_range():
    data = frame(ApiVersionsRequest(), 0)
    struct.pack_into(">h", data, 2, 9)
    answer = joined(dispatcher(lambda ctx, request: None)(CONNECTION, data))
    assert struct.unpack(">iihihhh", answer) == (16, 7, 35, 1, 18, 0, 4)


def test_a_defect_of_ours_closes_and_is_logged_in_full(caplog):
    def handle(ctx, request):
        raise KeyError("oops")

    with pytest.raises(ConnectionClosedError) as refused:
        dispatcher(handle)(CONNECTION, frame(ASK, 1))
    assert refused.value.reason is CloseReason.INTERNAL
    assert "KeyError: 'oops'" in caplog.text


async def test_a_defect_in_a_coroutine_closes_too(caplog):
    refused = []

    async def handle(ctx, request):
        raise KeyError("oops")

    serve = dispatcher(handle)
    connection = SimpleNamespace(
        received_ns=0, close_with_reason=lambda reason, detail: refused.append(reason)
    )
    serve(connection, frame(ASK, 1))
    await serve.drain()
    assert refused == [CloseReason.INTERNAL]


def test_the_advertised_minimum_replaces_the_served_one():
    handler = Handler(ApiKey.PRODUCE, (3, 11), lambda ctx, request: None, advertised_min=0)
    own = Handler(ApiKey.API_VERSIONS, (0, 4), lambda ctx, request: None)
    body = ApiVersionsResponses([own, handler]).body(0)
    assert struct.unpack(">hihhhhhh", body) == (0, 2, 0, 0, 11, 18, 0, 4)


@pytest.mark.parametrize("error", [SessionLostError("session 0x1"), ConnectionLossError("lost")])
async def test_a_lost_zookeeper_is_one_line_of_the_log(caplog, error):
    async def handle(ctx, request):
        raise error

    refused = []
    connection = SimpleNamespace(
        received_ns=0, close_with_reason=lambda reason, detail: refused.append(reason)
    )
    serve = dispatcher(handle)
    serve(connection, frame(ASK, 1))
    await serve.drain()
    assert refused == [CloseReason.INTERNAL]
    assert [bool(record.exc_info) for record in caplog.records] == [False]
    assert f"serving LIST_OFFSETS v1 #7 failed, no connection to ZooKeeper: {error}" in caplog.text
