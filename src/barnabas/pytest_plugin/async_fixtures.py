"""Asyncio fixtures, for pytest-asyncio or, if it is not installed, anyio."""

import importlib
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from barnabas.pytest_plugin.fixtures import consumer_settings

if TYPE_CHECKING:
    from barnabas.admin import AsyncAdmin

F = TypeVar("F", bound=Callable[..., Any])
async_fixture: Callable[[F], Any]
try:
    # In strict mode pytest-asyncio runs only async fixtures of its own decorator.
    from pytest_asyncio import fixture as async_fixture
except ImportError:
    async_fixture = pytest.fixture


@async_fixture
async def async_kafka_admin(kafka_bootstrap_servers: str) -> "AsyncIterator[AsyncAdmin]":
    """An asyncio admin client."""
    from barnabas.admin import AsyncAdmin

    async with AsyncAdmin({"bootstrap.servers": kafka_bootstrap_servers}) as admin:
        yield admin


@async_fixture
async def async_kafka_producer(kafka_bootstrap_servers: str) -> AsyncIterator[Any]:
    """An asyncio producer."""
    producer_type = importlib.import_module("barnabas.aio").Producer
    settings = {"bootstrap.servers": kafka_bootstrap_servers, "linger.ms": 0}
    async with producer_type(settings) as producer:
        yield producer


@async_fixture
async def async_kafka_consumer(
    kafka_bootstrap_servers: str, kafka_group: str
) -> AsyncIterator[Any]:
    """An asyncio consumer in its own group that starts at the earliest record."""
    consumer_type = importlib.import_module("barnabas.aio").Consumer
    async with consumer_type(consumer_settings(kafka_bootstrap_servers, kafka_group)) as consumer:
        yield consumer
