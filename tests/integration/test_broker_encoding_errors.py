"""Responses that cannot be encoded, over a real connection."""

import asyncio

import pytest

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import Uuid
from barnabas.wire.messages.api_versions import ApiVersionsRequest
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

pytestmark = pytest.mark.integration

BY_ID = MetadataRequest([MetadataRequestTopic(Uuid(b"\1" * 16), None)])


@pytest.fixture
async def loop_errors():
    """Collects the calls of asyncio's exception handler."""
    seen = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: seen.append(context))
    return seen


@pytest.mark.parametrize("version", [10, 11])
async def test_metadata_by_id_with_a_null_name_is_answered_in_order(
    version, peer, loop_errors, caplog
):
    first = peer.send(ApiVersionsRequest(), 0)
    asked = [peer.send(BY_ID, version) for _ in range(20)]
    last = peer.send(MetadataRequest(topics=[]), 9)
    await peer.receive(18, 0, first)
    for correlation in asked:
        answer = await peer.receive(3, version, correlation)
        assert [topic.error_code for topic in answer.topics] == [ErrorCode.INVALID_REQUEST]
    await peer.receive(3, 9, last)
    assert loop_errors == []
    assert len(caplog.text) < 2000
