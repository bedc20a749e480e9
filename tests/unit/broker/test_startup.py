"""Requests that arrive before the broker has started."""

import asyncio
from types import SimpleNamespace

import pytest

from barnabas.broker.handler import NO_RESPONSE
from barnabas.broker.startup import StartGate
from barnabas.net.close_reasons import CloseReason, ConnectionClosedError
from barnabas.wire.api_keys import ApiKey


def context(api, *, closed=False):
    connection = SimpleNamespace(closed=closed)
    return SimpleNamespace(header=SimpleNamespace(api_key=int(api)), connection=connection)


def echo(_, request):
    return request


@pytest.mark.parametrize("api", [ApiKey.UPDATE_METADATA, ApiKey.API_VERSIONS])
async def test_commands_of_the_controller_are_served_at_once(api):
    assert StartGate()(context(api), "request", echo) == "request"


@pytest.mark.parametrize("api", [ApiKey.PRODUCE, ApiKey.METADATA, ApiKey.FETCH])
async def test_other_requests_are_held_and_served_after_the_start(api):
    gate = StartGate()
    held = asyncio.ensure_future(gate(context(api), "request", echo))
    await asyncio.sleep(0)
    assert not held.done()
    assert gate.held == 1
    gate.open()
    assert await held == "request"
    assert gate.held == 0


async def test_the_number_of_held_requests_is_bounded():
    gate = StartGate(max_held=1)
    held = asyncio.ensure_future(gate(context(ApiKey.FETCH), "request", echo))
    with pytest.raises(ConnectionClosedError) as refused:
        gate(context(ApiKey.FETCH), "request", echo)
    assert refused.value.reason is CloseReason.NOT_STARTED
    gate.open()
    await held


async def test_the_time_a_request_is_held_is_bounded():
    gate = StartGate(max_wait_s=0)
    with pytest.raises(ConnectionClosedError) as refused:
        await gate(context(ApiKey.FETCH), "request", echo)
    assert refused.value.reason is CloseReason.NOT_STARTED
    assert gate.held == 0


async def test_a_broker_that_fails_to_start_rejects_held_requests():
    gate = StartGate()
    held = asyncio.ensure_future(gate(context(ApiKey.FETCH), "request", echo))
    await asyncio.sleep(0)
    gate.close()
    with pytest.raises(ConnectionClosedError) as refused:
        await held
    assert refused.value.reason is CloseReason.NOT_STARTED


async def test_a_request_whose_connection_was_closed_meanwhile_is_dropped():
    gate = StartGate()
    ctx = context(ApiKey.PRODUCE)
    held = asyncio.ensure_future(gate(ctx, "request", echo))
    await asyncio.sleep(0)
    ctx.connection.closed = True
    gate.open()
    assert await held is NO_RESPONSE
