"""Requests in the form of the short paths are still authorized and audited."""

import logging

import pytest
from support.network.requests import batch, create_topic, fetch_request, produce_request
from support.security.secure_broker import AUTHORIZER

from barnabas.model.error_codes import ErrorCode
from barnabas.security.acl import Operation, PatternType, Permission, ResourceType
from barnabas.wire.messages.create_acls import AclCreation, CreateAclsRequest

pytestmark = pytest.mark.integration

PRODUCE_VERSION, FETCH_VERSION = 9, 12
OPEN = {"authorizer.class.name": AUTHORIZER, "allow.everyone.if.no.acl.found": "true"}


async def deny(peer, topic, *operations):
    denials = [
        AclCreation(
            ResourceType.TOPIC.value,
            topic,
            PatternType.LITERAL.value,
            "User:ANONYMOUS",
            "*",
            operation.value,
            Permission.DENY.value,
        )
        for operation in operations
    ]
    response = await peer.call(CreateAclsRequest(denials), 3)
    assert [result.error_code for result in response.results] == [0] * len(operations)


async def produced(peer, topic):
    response = await peer.call(produce_request(topic, batch(b"value")), PRODUCE_VERSION)
    return response.responses[0].partition_responses[0].error_code


async def fetched(peer, topic):
    response = await peer.call(fetch_request(topic, 0), FETCH_VERSION)
    return response.responses[0].partitions[0].error_code


async def test_acls_apply_to_requests_of_one_partition(start, connect):
    peer = await connect(await start(OPEN))
    await create_topic(peer, "t")
    assert [await produced(peer, "t") for _ in range(3)] == [0, 0, 0]
    assert await fetched(peer, "t") == 0
    await deny(peer, "t", Operation.WRITE, Operation.READ)
    assert await produced(peer, "t") == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert await fetched(peer, "t") == ErrorCode.TOPIC_AUTHORIZATION_FAILED


async def test_denied_requests_are_in_the_audit_log(start, connect, caplog):
    caplog.set_level(logging.INFO, "barnabas.audit")
    peer = await connect(await start({**OPEN, "audit.log": "denied"}))
    await create_topic(peer, "t")
    assert [await produced(peer, "t") for _ in range(3)] == [0, 0, 0]
    await deny(peer, "t", Operation.WRITE)
    assert await produced(peer, "t") == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert [line for line in caplog.messages if "PRODUCE" in line]
