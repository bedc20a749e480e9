"""Claiming ephemeral nodes that earlier sessions may still hold."""

import asyncio

import pytest

from barnabas.runtime.clock import SystemClock
from barnabas.zk.recipes import claim_ephemeral
from barnabas.zk.sqlite_tree import EmbeddedStore
from barnabas.zk.tree import NodeExistsError


@pytest.fixture
async def store():
    store = EmbeddedStore(SystemClock())
    yield store
    await store.close()


async def test_free_node_is_taken(store):
    tree = store.session()
    stat = await claim_ephemeral(tree, "/e", b"x")
    assert stat.ephemeral_owner == tree.session_id


async def test_own_node_is_kept_and_brought_up_to_date(store):
    tree = store.session()
    first = await claim_ephemeral(tree, "/e", b"x")
    again = await claim_ephemeral(tree, "/e", b"y")
    assert again.czxid == first.czxid
    assert (await tree.get("/e"))[0] == b"y"


async def test_node_of_a_known_former_session_is_replaced(store):
    old, new = store.session(), store.session()
    before = await claim_ephemeral(old, "/e", b"x")
    after = await claim_ephemeral(new, "/e", b"x", former_sessions={old.session_id})
    assert after.czxid > before.czxid
    assert after.ephemeral_owner == new.session_id


async def test_foreign_node_is_waited_for(store):
    old, new = store.session(), store.session()
    await old.create("/e", ephemeral=True)
    claim = asyncio.create_task(claim_ephemeral(new, "/e", b"", wait_s=5))
    await asyncio.sleep(0.01)  # time for what must not happen
    assert not claim.done()
    await old.close()
    assert (await claim).ephemeral_owner == new.session_id


async def test_foreign_node_that_stays_is_an_error(store):
    old, new = store.session(), store.session()
    await old.create("/e", ephemeral=True)
    with pytest.raises(NodeExistsError):
        await claim_ephemeral(new, "/e", b"", wait_s=0.01)
