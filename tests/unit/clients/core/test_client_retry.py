"""Retries until the deadline, and the error after it."""

import asyncio

import pytest

from barnabas.clients.core.client import KafkaClient
from barnabas.clients.core.options import ClientOptions
from barnabas.model.config_keys.client import ADMIN_KEYS
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, DeadlineError, UnavailableError


@pytest.fixture
async def client():
    values = ADMIN_KEYS.parse({"bootstrap.servers": "127.0.0.1:1", "retry.backoff.ms": 1})
    made = KafkaClient(ClientOptions.from_values(values))
    yield made
    await made.close()


def soon(seconds=0.05):
    return asyncio.get_running_loop().time() + seconds


async def test_transient_errors_are_retried(client):
    outcomes = iter([UnavailableError("lost"), BrokerError(ErrorCode.NOT_CONTROLLER), None])

    async def operation():
        error = next(outcomes)
        if error is not None:
            raise error
        return "done"

    assert await client.retry(operation, soon(5), "it") == "done"


async def test_permanent_errors_are_raised_at_once(client):
    async def operation():
        raise BrokerError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)

    with pytest.raises(BrokerError, match="TOPIC_AUTHORIZATION_FAILED"):
        await client.retry(operation, soon(5), "it")


async def test_a_deadline_during_an_attempt_names_the_last_error(client):
    tries = 0

    async def operation():
        nonlocal tries
        tries += 1
        if tries == 1:
            raise UnavailableError("connection refused")
        await asyncio.sleep(10)

    with pytest.raises(DeadlineError, match="it: connection refused"):
        await client.retry(operation, soon(), "it")


async def test_deadline_without_a_response(client):
    async def operation():
        await asyncio.sleep(10)

    with pytest.raises(DeadlineError, match="it: no response before the timeout"):
        await client.retry(operation, soon(), "it")
