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


class ReplacedNode:
    """A tree on which another session takes the place of a node just before it is deleted."""

    def __init__(self, tree, former, other, path):
        self._tree, self._former, self._other, self._path = tree, former, other, path

    def __getattr__(self, name):
        return getattr(self._tree, name)

    async def _replace(self):
        if self._former is not None:
            former, self._former = self._former, None
            await former.close()
            await self._other.create(self._path, b"other", ephemeral=True)

    async def delete(self, *arguments):
        await self._replace()
        await self._tree.delete(*arguments)

    async def multi(self, *arguments):
        await self._replace()
        return await self._tree.multi(*arguments)


async def test_a_node_that_another_session_has_created_meanwhile_is_not_deleted(store):
    """Both nodes have version 0."""
    old, new, other = store.session(), store.session(), store.session()
    await claim_ephemeral(old, "/e", b"x")
    tree = ReplacedNode(new, old, other, "/e")
    with pytest.raises(NodeExistsError):
        await claim_ephemeral(tree, "/e", b"x", former_sessions={old.session_id})
    data, stat = await new.get("/e")
    assert (data, stat.ephemeral_owner) == (b"other", other.session_id)
