"""Batches of small atomic writes under one fence."""

import pytest

from barnabas.controller.active.fenced_tree import ControllerMovedError, FencedTree
from barnabas.runtime.clock import SystemClock
from barnabas.zk import paths
from barnabas.zk.sqlite_tree import EmbeddedStore
from barnabas.zk.tree import (
    BadVersionError,
    CreateOp,
    DeleteOp,
    MultiError,
    NodeExistsError,
    SetOp,
)


class CountingTree:
    def __init__(self, tree) -> None:
        self._tree = tree
        self.multis = []

    def __getattr__(self, name):
        return getattr(self._tree, name)

    async def multi(self, ops):
        self.multis.append(len(ops))
        return await self._tree.multi(ops)


@pytest.fixture
async def tree():
    store = EmbeddedStore(SystemClock())
    tree = CountingTree(store.session())
    await tree.create(paths.CONTROLLER_EPOCH, b"1")
    yield tree
    await store.close()


async def test_results_and_errors_do_not_count_the_fence(tree):
    fenced = FencedTree(tree, 0)
    assert await fenced.multi([CreateOp("/a")]) == ["/a"]
    with pytest.raises(MultiError) as caught:
        await fenced.multi([CreateOp("/b"), CreateOp("/a")])
    assert caught.value.index == 1


async def test_passed_epoch_rejects_everything(tree):
    fenced = FencedTree(tree, 0)
    await tree.set(paths.CONTROLLER_EPOCH, b"2")
    with pytest.raises(ControllerMovedError):
        await fenced.multi([CreateOp("/a")])
    with pytest.raises(ControllerMovedError):
        await fenced.write_each({"a": [CreateOp("/a")]})
    assert await tree.exists("/a") is None


async def test_each_write_succeeds_or_fails_by_itself(tree):
    await tree.create("/there")
    outcome = await FencedTree(tree, 0).write_each(
        {
            "new": [CreateOp("/a"), CreateOp("/a/b")],
            "exists": [CreateOp("/c"), CreateOp("/there")],
            "stale": [SetOp("/there", b"x", 7)],
            "set": [SetOp("/there", b"y", 0)],
        }
    )
    assert outcome["new"] == ["/a", "/a/b"]
    assert isinstance(outcome["exists"], NodeExistsError)
    assert isinstance(outcome["stale"], BadVersionError)
    assert outcome["set"][0].version == 1
    assert await tree.exists("/c") is None


async def test_many_writes_share_few_packets_below_the_limit(tree):
    fenced = FencedTree(tree, 0)
    await fenced.write_each({n: [CreateOp(f"/{n}", b"x" * 1000)] for n in range(1000)})
    assert 2 <= len(tree.multis) <= 4
    assert max(tree.multis) <= 501
    assert len(await tree.children("/")) == 1001


async def test_deletions_that_were_done_already_are_skipped(tree):
    await tree.create("/a")
    await FencedTree(tree, 0).delete_all([DeleteOp("/gone"), DeleteOp("/a")])
    assert await tree.exists("/a") is None
