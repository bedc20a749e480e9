"""Routing and retries of one request: the brokers, the attempts, and the caller's result."""

import asyncio

import pytest

from barnabas.admin import AsyncAdmin
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, DeadlineError
from barnabas.wire.messages.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)


def created(codes):
    return CreateTopicsResponse(
        topics=[CreatableTopicResult(name=name, error_code=code) for name, code in codes.items()]
    )


async def test_changes_go_to_the_controller(cluster, admin):
    cluster.controller_id = 3
    cluster.on(CreateTopicsRequest, created({"t": 0}))
    await admin.create_topic("t")
    assert [node for node, _ in cluster.asked(CreateTopicsRequest)] == [3]


async def test_a_controller_that_moved_is_found_again(cluster, admin):
    def answer(node, request):
        cluster.controller_id = 2
        return created({"t": 0 if node == 2 else ErrorCode.NOT_CONTROLLER})

    cluster.on(CreateTopicsRequest, answer)
    await admin.create_topic("t")
    assert [node for node, _ in cluster.asked(CreateTopicsRequest)] == [1, 2]


async def test_a_controller_that_died_is_found_again(cluster, admin):
    cluster.controller_id = 3
    cluster.on(CreateTopicsRequest, lambda node, request: created({"t": 0}))
    await admin.describe_cluster()
    await cluster.kill(3)
    cluster.controller_id = 2
    await admin.create_topic("t")
    assert [node for node, _ in cluster.asked(CreateTopicsRequest)] == [2]


async def test_a_call_without_a_broker_fails_in_time():
    async with AsyncAdmin(bootstrap_servers="127.0.0.1:1") as admin:
        began = asyncio.get_running_loop().time()
        with pytest.raises(DeadlineError, match=r"list topics: no broker.*refused"):
            await admin.list_topics(timeout=0.2)
        assert asyncio.get_running_loop().time() - began < 20


async def test_no_answer_is_reported_in_time(cluster, admin):
    held = asyncio.Event()

    async def silent(reader, writer):
        await held.wait()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with AsyncAdmin(bootstrap_servers=f"127.0.0.1:{port}") as lonely:
        with pytest.raises(DeadlineError, match="describe cluster: no response before the timeout"):
            await lonely.describe_cluster(timeout=0.1)
    held.set()
    server.close()
    await server.wait_closed()


async def test_an_api_that_is_not_served_is_named(cluster, admin):
    with pytest.raises(BrokerError, match="does not serve CREATE_TOPICS"):
        await admin.create_topic("t")
