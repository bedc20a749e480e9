"""A client that may read a topic cannot fetch as a follower (CVE-2018-1288)."""

import pytest
from support.network.requests import batch, fetch_request, produce_request
from support.security.secure_broker import AUTHORIZER

from barnabas.model.error_codes import ErrorCode
from barnabas.security.acl import (
    CLUSTER,
    AccessEntry,
    AclBinding,
    Operation,
    Permission,
    ResourcePattern,
    ResourceType,
)
from barnabas.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from barnabas.wire.messages.fetch import ReplicaState

pytestmark = pytest.mark.integration

DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


@pytest.fixture
async def broker_app(start):
    return await start({"authorizer.class.name": AUTHORIZER})


async def allow(broker, operation, resource):
    entry = AccessEntry("User:ANONYMOUS", "*", operation, Permission.ALLOW)
    pattern = ResourcePattern(resource.type, resource.name)
    await broker.services.acl_store.add([AclBinding(pattern, entry)])


async def first_code(peer, request, version):
    response = await peer.call(request, version)
    return response.responses[0].partitions[0].error_code


async def test_only_a_broker_may_fetch_as_a_follower(broker_app, peer):
    topic = ResourcePattern(ResourceType.TOPIC, "t")
    for operation in (Operation.CREATE, Operation.WRITE, Operation.READ):
        await allow(broker_app, operation, topic)
    request = CreateTopicsRequest([CreatableTopic("t", 1, 1)], timeout_ms=10_000)
    assert (await peer.call(request, 7)).topics[0].error_code == 0
    await peer.call(produce_request("t", batch(b"v")), 9)
    assert await first_code(peer, fetch_request("t", 0), 11) == 0
    assert await first_code(peer, fetch_request("t", 0, replica_id=1), 11) == DENIED
    topic_id = broker_app.services.metadata.topic_id("t")
    follower = fetch_request("", 0, replica_state=ReplicaState(1, -1))
    follower.topics[0].topic_id = topic_id
    assert await first_code(peer, follower, 16) == DENIED
    await allow(broker_app, Operation.CLUSTER_ACTION, CLUSTER)
    assert await first_code(peer, fetch_request("t", 0, replica_id=1), 11) != DENIED
