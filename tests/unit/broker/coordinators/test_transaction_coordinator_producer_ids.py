"""ProducerIds: unique in the cluster, one write per block."""

import asyncio

import pytest

from barnabas.broker.coordinators.transaction_coordinator import BLOCK_SIZE, ProducerIds
from barnabas.controller.registration import ensure_roots
from barnabas.testing.virtual_clock import VirtualClock
from barnabas.zk.sqlite_tree import EmbeddedStore


@pytest.fixture
async def store():
    opened = EmbeddedStore(VirtualClock())
    await ensure_roots(opened.session())
    yield opened
    await opened.close()


async def test_ids_follow_each_other_over_blocks(store):
    ids = ProducerIds(store.session(), 1)
    assert ids.try_next() is None
    taken = [await ids.next() for _ in range(BLOCK_SIZE + 2)]
    assert taken == list(range(BLOCK_SIZE + 2))
    assert ids.try_next() == BLOCK_SIZE + 2


async def test_two_brokers_never_hand_out_the_same(store):
    first, second = ProducerIds(store.session(), 1), ProducerIds(store.session(), 2)
    taken = await asyncio.gather(
        *(ids.next() for _ in range(BLOCK_SIZE + 1) for ids in (first, second))
    )
    assert len(set(taken)) == len(taken)


async def test_a_restart_leaves_the_rest_of_its_block_unused(store):
    assert await ProducerIds(store.session(), 1).next() == 0
    assert await ProducerIds(store.session(), 1).next() == BLOCK_SIZE
