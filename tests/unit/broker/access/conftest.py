"""A metadata tree on a virtual clock, for the stores that keep their data in it."""

import pytest

from barnabas.testing.virtual_clock import VirtualClock
from barnabas.zk.sqlite_tree import EmbeddedStore


@pytest.fixture
async def clock():
    return VirtualClock()


@pytest.fixture
async def tree(clock):
    store = EmbeddedStore(clock)
    yield store.session()
    await store.close()
