"""A scripted cluster of three nodes, and an admin client of it."""

import pytest
from support.clients.scripted_kafka import ScriptedKafka

from barnabas.admin import AsyncAdmin


@pytest.fixture
async def cluster():
    async with ScriptedKafka(nodes=3) as scripted:
        yield scripted


@pytest.fixture
async def admin(cluster):
    config = {
        "bootstrap.servers": cluster.bootstrap_servers,
        "retry.backoff.ms": 1,
        "retry.backoff.max.ms": 2,
        "default.api.timeout.ms": 5_000,
    }
    async with AsyncAdmin(config) as client:
        yield client
