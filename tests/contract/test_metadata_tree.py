"""The contract of a metadata tree, run on the embedded tree and on a real ZooKeeper."""

import asyncio
import contextlib
import uuid

import pytest
from support.cluster.zookeeper import expire_session

from barnabas.runtime.clock import SystemClock
from barnabas.zk.kazoo_tree import connect
from barnabas.zk.recipes import delete_ephemeral
from barnabas.zk.sqlite_tree import EmbeddedStore
from barnabas.zk.tree import (
    BadVersionError,
    CheckOp,
    CreateOp,
    DeleteOp,
    MultiError,
    NoChildrenForEphemeralsError,
    NodeExistsError,
    NodeTooLargeError,
    NoNodeError,
    NotEmptyError,
    SessionLostError,
    SessionState,
    SetOp,
    WatchEvent,
    WatchKind,
)


@pytest.fixture(
    params=[
        "memory",
        "sqlite",
        pytest.param(
            "zookeeper", marks=[pytest.mark.integration, pytest.mark.xdist_group("zookeeper")]
        ),
    ]
)
def backend(request, tmp_path):
    """One tree, empty, that several sessions can be opened on."""
    if request.param == "zookeeper":
        return ZooKeeperBackend(request.getfixturevalue("zookeeper"))
    return EmbeddedBackend(tmp_path / "metadata.db" if request.param == "sqlite" else None)


class EmbeddedBackend:
    def __init__(self, path) -> None:
        self.store = EmbeddedStore(SystemClock(), path)

    async def open(self):
        return self.store.session()

    async def expire(self, tree) -> None:
        await tree.expire()

    async def close(self) -> None:
        await self.store.close()


class ZooKeeperBackend:
    """A chroot of its own for each test."""

    def __init__(self, server) -> None:
        self.hosts = f"{server.connect_string}/{uuid.uuid4().hex}"
        self.trees = []

    async def open(self):
        tree = await connect(self.hosts, session_timeout_s=5)
        self.trees.append(tree)
        return tree

    async def expire(self, tree) -> None:
        await expire_session(tree, self.hosts)

    async def close(self) -> None:
        for tree in self.trees:
            await tree.close()


@pytest.fixture
async def sessions(backend):
    """A function that opens one more session on the same tree."""
    yield backend.open
    await backend.close()


@pytest.fixture
def expire(backend):
    """Ends a session on the server's side, as a long pause would."""
    return backend.expire


@pytest.fixture
async def tree(sessions):
    return await sessions()


async def event_of(queue: asyncio.Queue) -> WatchEvent:
    return await asyncio.wait_for(queue.get(), 30)


async def settle(tree) -> None:
    """Wait until all pending watch events have been delivered.

    ZooKeeper sends them before its next response. The time is for the client's threads, which hand
    them to the loop; tests that expect no event have no condition to wait for.
    """
    await tree.exists("/")
    await asyncio.sleep(0.05)


async def test_create_get_set_delete(tree):
    assert await tree.create("/a", b"one") == "/a"
    data, stat = await tree.get("/a")
    assert (data, stat.version, stat.ephemeral_owner, stat.num_children) == (b"one", 0, 0, 0)
    assert stat.czxid == stat.mzxid > 0
    changed = await tree.set("/a", b"two")
    assert changed.version == 1
    assert changed.mzxid > changed.czxid == stat.czxid
    assert (await tree.get("/a"))[0] == b"two"
    await tree.delete("/a")
    assert await tree.exists("/a") is None


async def test_errors_name_the_path(tree):
    for attempt in (
        tree.get("/no"),
        tree.set("/no", b""),
        tree.delete("/no"),
        tree.children("/no"),
    ):
        with pytest.raises(NoNodeError) as caught:
            await attempt
        assert caught.value.path == "/no"
    with pytest.raises(NoNodeError):
        await tree.create("/no/child")
    await tree.create("/a")
    with pytest.raises(NodeExistsError):
        await tree.create("/a")
    await tree.create("/a/b")
    with pytest.raises(NotEmptyError):
        await tree.delete("/a")


async def test_versions_guard_writes(tree):
    await tree.create("/a")
    await tree.set("/a", b"1", 0)
    with pytest.raises(BadVersionError):
        await tree.set("/a", b"2", 0)
    with pytest.raises(BadVersionError):
        await tree.delete("/a", 0)
    await tree.delete("/a", 1)


async def test_children_are_sorted_names(tree):
    await tree.create("/a")
    for name in ("c", "a", "b"):
        await tree.create(f"/a/{name}")
    assert await tree.children("/a") == ["a", "b", "c"]
    assert (await tree.exists("/a")).num_children == 3


async def test_ensure_path_creates_ancestors_and_is_idempotent(tree):
    await tree.ensure_path("/a/b/c")
    await tree.ensure_path("/a/b/c")
    assert await tree.children("/a/b") == ["c"]


async def test_sequential_names_count_up(tree):
    await tree.create("/a")
    first = await tree.create("/a/n_", sequential=True)
    second = await tree.create("/a/n_", b"x", sequential=True)
    assert (first, second) == ("/a/n_0000000000", "/a/n_0000000001")
    await tree.delete(second)
    assert await tree.create("/a/n_", sequential=True) == "/a/n_0000000002"


async def test_ephemeral_nodes_die_with_their_session(sessions):
    one, two = await sessions(), await sessions()
    assert one.session_id != two.session_id
    await one.create("/mine", ephemeral=True)
    stat = await two.exists("/mine")
    assert stat.ephemeral_owner == one.session_id
    with pytest.raises(NoChildrenForEphemeralsError):
        await one.create("/mine/child")
    seen: asyncio.Queue = asyncio.Queue()
    await two.exists("/mine", seen.put_nowait)
    await one.close()
    assert await event_of(seen) == WatchEvent(WatchKind.DELETED, "/mine")
    assert await two.exists("/mine") is None


async def test_czxid_tells_incarnations_apart_and_grows(sessions):
    one, two = await sessions(), await sessions()
    await one.create("/mine", ephemeral=True)
    before = (await two.exists("/mine")).czxid
    await one.close()
    await two.create("/mine", ephemeral=True)
    assert (await two.exists("/mine")).czxid > before


async def test_data_watch_fires_once(tree):
    seen: asyncio.Queue = asyncio.Queue()
    await tree.create("/a")
    await tree.get("/a", seen.put_nowait)
    await tree.set("/a", b"1")
    await tree.set("/a", b"2")
    assert await event_of(seen) == WatchEvent(WatchKind.CHANGED, "/a")
    await settle(tree)
    assert seen.empty()


async def test_exists_watch_sees_creation(tree):
    seen: asyncio.Queue = asyncio.Queue()
    assert await tree.exists("/a", seen.put_nowait) is None
    await tree.create("/a")
    assert await event_of(seen) == WatchEvent(WatchKind.CREATED, "/a")


async def test_get_of_a_missing_node_leaves_no_watch(tree):
    seen: asyncio.Queue = asyncio.Queue()
    with pytest.raises(NoNodeError):
        await tree.get("/a", seen.put_nowait)
    with pytest.raises(NoNodeError):
        await tree.children("/a", seen.put_nowait)
    await tree.create("/a")
    await settle(tree)
    assert seen.empty()


async def test_child_watch_sees_births_and_deaths_but_not_data(sessions):
    tree, other = await sessions(), await sessions()
    seen: asyncio.Queue = asyncio.Queue()
    await tree.create("/a")
    await tree.children("/a", seen.put_nowait)
    await other.create("/a/b")
    assert await event_of(seen) == WatchEvent(WatchKind.CHILD, "/a")
    await tree.children("/a", seen.put_nowait)
    await other.set("/a", b"data")
    await other.set("/a/b", b"data")
    await settle(tree)
    assert seen.empty()
    await other.delete("/a/b")
    assert await event_of(seen) == WatchEvent(WatchKind.CHILD, "/a")


async def test_deletion_fires_data_and_child_watches(tree):
    data, children = asyncio.Queue(), asyncio.Queue()
    await tree.create("/a")
    await tree.get("/a", data.put_nowait)
    await tree.children("/a", children.put_nowait)
    await tree.delete("/a")
    deleted = WatchEvent(WatchKind.DELETED, "/a")
    assert await event_of(data) == deleted
    assert await event_of(children) == deleted


async def test_one_callback_left_twice_fires_once(tree):
    seen: asyncio.Queue = asyncio.Queue()
    watch = seen.put_nowait
    await tree.create("/a")
    await tree.get("/a", watch)
    await tree.get("/a", watch)
    await tree.set("/a", b"1")
    await event_of(seen)
    await settle(tree)
    assert seen.empty()


async def test_multi_does_all_and_answers_per_operation(tree):
    await tree.create("/a", b"0")
    await tree.create("/old")
    results = await tree.multi(
        [
            CheckOp("/a", 0),
            CreateOp("/a/b", b"x"),
            CreateOp("/a/n_", sequential=True),
            SetOp("/a", b"1", 0),
            DeleteOp("/old"),
        ]
    )
    assert results[:3] == [None, "/a/b", "/a/n_0000000001"]
    assert results[3].version == 1
    assert results[4] is None
    assert await tree.exists("/old") is None


async def test_multi_does_nothing_when_one_is_rejected(tree):
    await tree.create("/a")
    ops = [CreateOp("/b"), SetOp("/a", b"1", 0), CheckOp("/a", 0), CreateOp("/c")]
    with pytest.raises(MultiError) as caught:
        await tree.multi(ops)
    assert caught.value.index == 2
    assert caught.value.operation == ops[2]
    assert isinstance(caught.value.cause, BadVersionError)
    assert caught.value.cause.path == "/a"
    assert await tree.exists("/b") is None
    assert (await tree.exists("/a")).version == 0


async def test_multi_of_nothing(tree):
    assert await tree.multi([]) == []


async def test_multi_removes_a_whole_branch(tree):
    """Parents change before they go: removing a child counts it out of its parent."""
    paths = ["/a", "/a/b", "/a/b/0", "/a/b/0/state", "/a/b/1", "/a/b/1/state"]
    await tree.multi([CreateOp(path) for path in paths])
    await tree.multi([DeleteOp(path) for path in reversed(paths)])
    assert await tree.children("/") in ([], ["zookeeper"])
    await tree.create("/a")


async def test_multi_creates_a_whole_branch(tree):
    await tree.multi([CreateOp("/a"), CreateOp("/a/b"), CreateOp("/a/b/c", b"deep")])
    assert (await tree.get("/a/b/c"))[0] == b"deep"


@pytest.mark.parametrize(
    ("op", "error"),
    [
        (CreateOp("/a"), NodeExistsError),
        (CreateOp("/x/y"), NoNodeError),
        (SetOp("/x", b""), NoNodeError),
        (DeleteOp("/x"), NoNodeError),
        (CheckOp("/x", 0), NoNodeError),
        (DeleteOp("/a"), NotEmptyError),
        (DeleteOp("/a", 7), BadVersionError),
    ],
)
async def test_multi_error_names_the_reason(tree, op, error):
    await tree.ensure_path("/a/b")
    with pytest.raises(MultiError) as caught:
        await tree.multi([CheckOp("/a", 0), op])
    assert caught.value.index == 1
    assert type(caught.value.cause) is error


async def test_concurrent_compare_and_set_has_one_winner(sessions):
    trees = [await sessions() for _ in range(3)]
    await trees[0].create("/a", b"")
    attempts = [tree.set("/a", str(n).encode(), 0) for n, tree in enumerate(trees * 5)]
    results = await asyncio.gather(*attempts, return_exceptions=True)
    won = [result for result in results if not isinstance(result, BadVersionError)]
    assert len(won) == 1
    assert won[0].version == 1


async def test_oversized_data_is_rejected_before_it_is_sent(tree):
    with pytest.raises(NodeTooLargeError):
        await tree.create("/a", b"x" * 1_000_001)
    with pytest.raises(MultiError) as caught:
        await tree.multi([CreateOp("/b"), CreateOp("/a", b"x" * 1_000_001)])
    assert isinstance(caught.value.cause, NodeTooLargeError)
    await tree.create("/a", b"x" * 900_000)
    assert tree.state is SessionState.CONNECTED


async def test_closed_session_rejects_everything(sessions):
    tree = await sessions()
    states = []
    tree.add_session_listener(states.append)
    await tree.close()
    await tree.close()
    assert tree.state is SessionState.CLOSED
    for attempt in (tree.get("/"), tree.create("/a"), tree.multi([CreateOp("/a")])):
        with pytest.raises(SessionLostError):
            await attempt
    await asyncio.sleep(0)
    assert states == [SessionState.CLOSED]


async def test_expiry_drops_ephemerals_and_watches_and_gives_a_new_session(sessions, expire):
    tree, other = await sessions(), await sessions()
    states: asyncio.Queue = asyncio.Queue()
    seen: asyncio.Queue = asyncio.Queue()
    tree.add_session_listener(states.put_nowait)
    await tree.create("/mine", ephemeral=True)
    await tree.exists("/other", seen.put_nowait)
    before = tree.session_id
    await expire(tree)
    # It may get hold of the old session for a moment before that ends.
    while await event_of(states) is not SessionState.LOST:
        pass
    while await event_of(states) is not SessionState.CONNECTED:
        pass
    assert tree.session_id != before
    assert (await event_of(seen)).kind is WatchKind.DROPPED
    assert await other.exists("/mine") is None
    await tree.create("/mine", ephemeral=True)
    assert (await other.exists("/mine")).ephemeral_owner == tree.session_id


async def test_cancelled_write_leaves_the_tree_usable(tree):
    task = asyncio.create_task(tree.create("/a", b"x"))
    await asyncio.sleep(0)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    with contextlib.suppress(NodeExistsError):
        await tree.create("/a", b"x")
    assert (await tree.get("/a"))[0] == b"x"


async def test_a_branch_made_and_grown_can_be_deleted_in_one_multi(tree):
    await tree.multi([CreateOp("/a"), CreateOp("/a/b"), CreateOp("/a/b/c")])
    leaves_first = [DeleteOp("/a/b/c"), DeleteOp("/a/b"), DeleteOp("/a")]
    await tree.multi(leaves_first)
    assert await tree.exists("/a") is None
    await tree.multi([CreateOp("/a"), CreateOp("/a/b"), *leaves_first[1:], CreateOp("/a", b"x")])
    assert await tree.children("/a") == []


async def test_the_stat_of_a_parent_has_the_number_of_the_next_sequential_node(sessions):
    tree = await sessions()
    await tree.create("/q")
    for _ in range(3):
        await tree.delete(await tree.create("/q/n-", sequential=True))
    await tree.create("/q/stays")
    stat = await tree.exists("/q")
    created = await tree.create("/q/n-", sequential=True)
    assert created == f"/q/n-{stat.next_sequence:010d}"


async def test_only_the_ephemeral_node_of_a_known_session_is_deleted(sessions):
    former, other, tree = [await sessions() for _ in range(3)]
    await tree.create("/e")
    await former.create("/e/n", ephemeral=True)
    assert not await delete_ephemeral(tree, "/e/n", {other.session_id})
    assert await delete_ephemeral(tree, "/e/n", {former.session_id})
    assert await tree.children("/e") == []
    assert await delete_ephemeral(tree, "/e/n", {former.session_id})
