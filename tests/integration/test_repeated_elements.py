"""Requests that name far more topics or partitions than there are: rejected before decoding."""

import asyncio

import pytest
from support.network.requests import create_topic, list_offset

from barnabas.broker.request_limits import SPARE_ELEMENTS, SPARE_ELEMENTS_BY_API
from barnabas.wire.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from barnabas.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from barnabas.wire.messages.list_groups import ListGroupsRequest
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from barnabas.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

pytestmark = pytest.mark.integration


def metadata(count):
    return MetadataRequest(topics=[MetadataRequestTopic(name="t")] * count), 8


def fetch(count):
    asked = FetchPartition(0, fetch_offset=0, partition_max_bytes=1 << 20)
    topics = [FetchTopic(topic="t", partitions=[asked] * count)]
    return FetchRequest(topics=topics, max_wait_ms=0, min_bytes=0, session_epoch=-1), 11


def create_topics(count):
    topics = [CreatableTopic(f"name-{n}", 1, 1) for n in range(count)]
    return CreateTopicsRequest(topics=topics, timeout_ms=10_000, validate_only=True), 7


def write_txn_markers(count):
    topics = [WritableTxnMarkerTopic("t", [0] * count)]
    return WriteTxnMarkersRequest([WritableTxnMarker(7, 0, True, topics)]), 1


def list_groups(count):
    return ListGroupsRequest(states_filter=["Empty"] * count), 5


def create_delegation_token(count):
    renewers = [CreatableRenewers("User", f"u{n}") for n in range(count)]
    return CreateDelegationTokenRequest(renewers=renewers), 3


KINDS = pytest.mark.parametrize(
    "kind",
    [metadata, fetch, create_topics, write_txn_markers, list_groups, create_delegation_token],
)


@KINDS
async def test_as_many_as_a_cluster_may_have_are_answered(peer, kind):
    """Passes when the broker responds."""
    await create_topic(peer, "t")
    api = kind(1)[0].API_KEY
    message, version = kind(SPARE_ELEMENTS_BY_API.get(api, SPARE_ELEMENTS))
    await peer.call(message, version, timeout=30)


async def test_a_repeated_partition_gets_one_marker(peer):
    await create_topic(peer, "t")
    message, version = write_txn_markers(3)
    answer = (await peer.call(message, version)).markers[0].topics[0]
    assert [one.error_code for one in answer.partitions] == [0, 0, 0]
    assert (await list_offset(peer, "t", -1)).offset == 1


@KINDS
async def test_far_more_are_rejected(peer, connect, broker_app, kind, caplog):
    await create_topic(peer, "t")
    message, version = kind(10 * SPARE_ELEMENTS)
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await peer.call(message, version, timeout=30)
    assert "Traceback" not in caplog.text
    await create_topic(await connect(broker_app), "u")
