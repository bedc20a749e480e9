"""The nodes that a broker writes about itself."""

import asyncio

import pytest

from barnabas.controller.registration import (
    BrokerRegistration,
    cluster_id,
    ensure_roots,
    generate_broker_id,
)
from barnabas.model.control import Endpoint
from barnabas.model.errors import BrokerError
from barnabas.runtime.clock import SystemClock
from barnabas.zk import paths
from barnabas.zk.sqlite_tree import EmbeddedStore
from barnabas.zk.znodes import BrokerNode

NODE = BrokerNode((Endpoint("PLAINTEXT", "h", 9092),))


@pytest.fixture
async def store():
    store = EmbeddedStore(SystemClock())
    await ensure_roots(store.session())
    yield store
    await store.close()


async def test_concurrent_brokers_create_the_root_nodes(store):
    trees = [store.session() for _ in range(3)]
    await asyncio.gather(*(ensure_roots(tree) for tree in trees))
    for root in paths.PERSISTENT_ROOTS:
        assert await trees[0].exists(root) is not None


async def test_all_brokers_agree_on_the_cluster_id(store):
    ids = await asyncio.gather(*(cluster_id(store.session()) for _ in range(3)))
    assert len(set(ids)) == 1
    assert len(ids[0]) == 22


async def test_generated_broker_ids_are_above_the_reserved_ones(store):
    tree = store.session()
    ids = await asyncio.gather(*(generate_broker_id(tree, reserved_max=10) for _ in range(3)))
    assert sorted(ids) == [11, 12, 13]


async def test_epoch_is_the_creation_of_the_registration(store):
    tree = store.session()
    registration = BrokerRegistration(tree, 1, lambda: NODE)
    assert registration.broker_epoch == -1
    epoch = await registration.register()
    assert epoch == registration.broker_epoch == (await tree.exists(paths.broker(1))).czxid
    assert await registration.register() == epoch


async def test_new_session_gets_a_new_epoch(store):
    tree = store.session()
    registration = BrokerRegistration(tree, 1, lambda: NODE)
    before = await registration.register()
    await tree.expire()
    assert await registration.register() > before


async def test_second_broker_of_an_id_is_rejected(store):
    await BrokerRegistration(store.session(), 1, lambda: NODE).register()
    second = BrokerRegistration(store.session(), 1, lambda: NODE, wait_s=0.01)
    with pytest.raises(BrokerError, match="DUPLICATE_BROKER_REGISTRATION"):
        await second.register()


async def test_restarted_broker_waits_for_its_old_session_to_end(store):
    old = store.session()
    await BrokerRegistration(old, 1, lambda: NODE).register()
    again = BrokerRegistration(store.session(), 1, lambda: NODE, wait_s=5)
    waiting = asyncio.create_task(again.register())
    await asyncio.sleep(0.01)  # time for what must not happen
    assert not waiting.done()
    await old.close()
    assert await waiting > 0
