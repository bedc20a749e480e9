"""The outcome of a write whose response was lost."""

import pytest

from barnabas.runtime.clock import SystemClock
from barnabas.zk.read_back import WriteOutcome, outcome_of, results_of
from barnabas.zk.sqlite_tree import EmbeddedStore
from barnabas.zk.tree import CheckOp, CreateOp, DeleteOp, SetOp


@pytest.fixture
async def store():
    store = EmbeddedStore(SystemClock())
    tree = store.session()
    await tree.create("/a", b"0")
    yield store
    await store.close()


WRITES = {
    "create": [CreateOp("/b", b"x")],
    "ephemeral": [CreateOp("/b", b"x", ephemeral=True)],
    "set": [SetOp("/a", b"1", 0)],
    "blind set": [SetOp("/a", b"1")],
    "delete": [DeleteOp("/a")],
    "election": [CreateOp("/b", b"x", ephemeral=True), SetOp("/a", b"1", 0)],
    "fenced": [CheckOp("/a", 0), CreateOp("/b", b"x")],
}


@pytest.mark.parametrize("ops", WRITES.values(), ids=WRITES)
async def test_applied_and_not_applied_writes_are_distinguished(store, ops):
    tree = store.session()
    assert await outcome_of(tree, ops) is WriteOutcome.NOT_APPLIED
    answers = await tree.multi(ops)
    assert await outcome_of(tree, ops) is WriteOutcome.APPLIED
    assert await results_of(tree, ops) == answers


async def test_node_of_another_session_is_not_ours(store):
    tree, other = store.session(), store.session()
    await other.create("/b", b"x", ephemeral=True)
    assert await outcome_of(tree, WRITES["ephemeral"]) is WriteOutcome.NOT_APPLIED


async def test_other_data_under_the_next_version_is_not_ours(store):
    tree, other = store.session(), store.session()
    await other.set("/a", b"theirs", 0)
    assert await outcome_of(tree, WRITES["set"]) is WriteOutcome.NOT_APPLIED


async def test_a_version_that_increased_by_more_than_one_is_undecided(store):
    tree = store.session()
    await tree.set("/a", b"1", 0)
    await tree.set("/a", b"2", 1)
    assert await outcome_of(tree, WRITES["set"]) is WriteOutcome.UNKNOWN


async def test_sequential_nodes_are_undecided(store):
    ops = [SetOp("/a", b"1", 0), CreateOp("/n_", sequential=True)]
    assert await outcome_of(store.session(), ops) is WriteOutcome.UNKNOWN


async def test_checks_alone_tell_nothing(store):
    assert await outcome_of(store.session(), [CheckOp("/a", 0)]) is WriteOutcome.UNKNOWN
