"""Asyncio fixtures, for pytest-asyncio or, if it is not installed, anyio."""

from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

import pytest

from barnabas import aio
from barnabas.pytest_plugin.fixtures import consumer_settings

F = TypeVar("F", bound=Callable[..., Any])
async_fixture: Callable[[F], Any]
try:
    # In strict mode pytest-asyncio runs only async fixtures of its own decorator.
    from pytest_asyncio import fixture as async_fixture
except ImportError:
    async_fixture = pytest.fixture


@async_fixture
async def async_kafka_admin(kafka_bootstrap_servers: str) -> "AsyncIterator[aio.Admin]":
    """An asyncio admin client."""
    async with aio.Admin({"bootstrap.servers": kafka_bootstrap_servers}) as admin:
        yield admin


@async_fixture
async def async_kafka_producer(kafka_bootstrap_servers: str) -> AsyncIterator[Any]:
    """An asyncio producer."""
    settings = {"bootstrap.servers": kafka_bootstrap_servers, "linger.ms": 0}
    async with aio.Producer(settings) as producer:
        yield producer


@async_fixture
async def async_kafka_consumer(
    kafka_bootstrap_servers: str, kafka_group: str
) -> AsyncIterator[Any]:
    """An asyncio consumer in its own group that starts at the earliest record."""
    async with aio.Consumer(consumer_settings(kafka_bootstrap_servers, kafka_group)) as consumer:
        yield consumer
