"""Versions as a peer sees them that knows nothing of this code: raw bytes over a socket.

Peers that ignore the versions of ApiVersions connect again at once; the broker holds their
connections for a while, so that they cannot do that thousands of times a second.
"""

import asyncio
import struct

import pytest

from barnabas.wire.messages.api_versions import ApiVersionsRequest

pytestmark = pytest.mark.integration

FETCH, DESCRIBE_LOG_DIRS = 1, 35
UNSERVED_VERSION = 99


@pytest.mark.parametrize(("api", "last"), [(FETCH, 18), (DESCRIBE_LOG_DIRS, 5)])
async def test_last_version_is_that_of_kafka_4_3(peer, api, last):
    answer = await peer.call(ApiVersionsRequest(), 0)
    assert {one.api_key: one.max_version for one in answer.api_keys}[api] == last


async def test_fetch_of_version_18_is_served(peer):
    """An empty request without a session; the response begins with its correlation id."""
    fields = struct.pack(">iiibii", 0, 0, 1 << 20, 0, 0, -1)
    body = fields + bytes([1, 1, 1, 0])  # no topics, none forgotten, empty rack, no tags
    peer.writer.write(framed(FETCH, 18, body))
    assert (await answered(peer))[:4] == struct.pack(">i", 7)


async def test_peer_with_an_unserved_version_waits_until_others_were_served(
    broker_app, connect, peer
):
    """Responses to three requests of another peer arrive before the connection is closed."""
    stubborn = await connect(broker_app)
    stubborn.writer.write(framed(FETCH, UNSERVED_VERSION, b"\0"))
    closed = asyncio.ensure_future(stubborn.is_closed())
    for _ in range(3):
        await peer.call(ApiVersionsRequest(), 0)
    assert not closed.done()
    assert await closed


def framed(api, version, body):
    """A request with a flexible header, without a client id."""
    frame = struct.pack(">hhih", api, version, 7, -1) + b"\0" + body
    return struct.pack(">i", len(frame)) + frame


async def answered(peer):
    return await asyncio.wait_for(peer.receive_frame(), 30)
