"""A session on a real ZooKeeper whose connection and server are mistreated."""

import asyncio
import uuid

import pytest
from support.network.reply_thief import ReplyThief

from barnabas.model.errors import LocalError, UnavailableError
from barnabas.zk.kazoo_tree import connect
from barnabas.zk.tree import (
    BadVersionError,
    ConnectionLossError,
    CreateOp,
    NodeExistsError,
    SessionState,
    SetOp,
    WatchKind,
)
from barnabas.zk.zookeeper_server import ServerConfig, ZooKeeperServer

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("zookeeper")]


@pytest.fixture
async def thief(zookeeper):
    thief = ReplyThief("127.0.0.1", zookeeper.port)
    await thief.start()
    yield thief
    await thief.stop()


@pytest.fixture
def chroot():
    return f"/{uuid.uuid4().hex}"


@pytest.fixture
async def tree(thief, chroot):
    tree = await connect(f"127.0.0.1:{thief.port}{chroot}", session_timeout_s=5)
    yield tree
    await tree.close()


@pytest.fixture
async def witness(zookeeper, chroot, tree):
    other = await connect(f"{zookeeper.connect_string}{chroot}")
    yield other
    await other.close()


async def test_create_whose_answer_was_lost_is_found(tree, thief, witness):
    thief.steal_next()
    assert await tree.create("/a", b"mine") == "/a"
    assert thief.stolen == 1
    assert (await witness.get("/a"))[0] == b"mine"


async def test_ephemeral_create_whose_answer_was_lost_is_ours(tree, thief, witness):
    thief.steal_next()
    await tree.create("/e", b"x", ephemeral=True)
    assert thief.stolen == 1
    assert (await witness.exists("/e")).ephemeral_owner == tree.session_id


async def test_conditional_set_whose_answer_was_lost_happened_once(tree, thief, witness):
    await tree.create("/a")
    thief.steal_next()
    stat = await tree.set("/a", b"1", 0)
    assert (stat.version, thief.stolen) == (1, 1)
    assert (await witness.exists("/a")).version == 1
    with pytest.raises(BadVersionError):
        await tree.set("/a", b"2", 0)


async def test_multi_whose_answer_was_lost_happened_once(tree, thief, witness):
    await tree.create("/epoch", b"0")
    thief.steal_next()
    ops = [CreateOp("/office", b"1", ephemeral=True), SetOp("/epoch", b"1", 0)]
    path, stat = await tree.multi(ops)
    assert (path, stat.version, thief.stolen) == ("/office", 1, 1)
    assert (await witness.get("/epoch"))[0] == b"1"


async def test_delete_whose_answer_was_lost(tree, thief, witness):
    await tree.create("/a")
    thief.steal_next()
    await tree.delete("/a")
    assert await witness.exists("/a") is None


async def test_sequential_create_whose_answer_was_lost_is_not_repeated(tree, thief, witness):
    thief.steal_next()
    with pytest.raises(ConnectionLossError):
        await tree.create("/n_", sequential=True)
    assert await witness.children("/") == ["n_0000000000"]


async def test_a_node_of_another_session_is_not_taken_for_ours(tree, thief, witness):
    await witness.create("/e", b"x", ephemeral=True)
    thief.steal_next()
    with pytest.raises(NodeExistsError):
        await tree.create("/e", b"x", ephemeral=True)


async def test_short_loss_suspends_and_keeps_the_session(tree, thief):
    states: asyncio.Queue = asyncio.Queue()
    seen: asyncio.Queue = asyncio.Queue()
    tree.add_session_listener(states.put_nowait)
    await tree.create("/e", ephemeral=True)
    await tree.exists("/e", seen.put_nowait)
    session_id = tree.session_id
    thief.cut()
    assert await asyncio.wait_for(states.get(), 30) is SessionState.SUSPENDED
    assert await asyncio.wait_for(states.get(), 30) is SessionState.CONNECTED
    assert (await asyncio.wait_for(seen.get(), 30)).kind is WatchKind.DROPPED
    assert tree.session_id == session_id
    assert (await tree.exists("/e")).ephemeral_owner == session_id


async def test_long_loss_ends_the_session_and_a_new_one_follows(thief, chroot, zookeeper):
    tree = await connect(f"127.0.0.1:{thief.port}{chroot}", session_timeout_s=3)
    witness = await connect(f"{zookeeper.connect_string}{chroot}")
    states: asyncio.Queue = asyncio.Queue()
    tree.add_session_listener(states.put_nowait)
    await tree.create("/e", ephemeral=True)
    session_id = tree.session_id
    thief.refuse(True)
    assert await asyncio.wait_for(states.get(), 30) is SessionState.SUSPENDED
    gone = asyncio.Event()
    if await witness.exists("/e", lambda event: gone.set()):
        await asyncio.wait_for(gone.wait(), 30)
    thief.refuse(False)
    assert await asyncio.wait_for(states.get(), 30) is SessionState.LOST
    assert await asyncio.wait_for(states.get(), 30) is SessionState.CONNECTED
    assert tree.session_id != session_id
    await tree.create("/e", ephemeral=True)
    await tree.close()
    await witness.close()


async def test_connecting_without_a_server_fails_in_time(zookeeper):
    with pytest.raises(UnavailableError, match=r"no ZooKeeper server at 127\.0\.0\.1:1 "):
        await connect("127.0.0.1:1", connect_timeout_s=0.3)


async def test_data_survives_a_restart_of_the_server(tmp_path):
    server = ZooKeeperServer(ServerConfig(tmp_path, tick_ms=200))
    await server.start()
    tree = await connect(server.connect_string, session_timeout_s=4)
    states: asyncio.Queue = asyncio.Queue()
    tree.add_session_listener(states.put_nowait)
    await tree.create("/a", b"kept")
    await server.stop()
    assert await asyncio.wait_for(states.get(), 30) is SessionState.SUSPENDED
    again = ZooKeeperServer(ServerConfig(tmp_path, port=server.port, tick_ms=200))
    await again.start()
    # A read waits for a connection as long as the session can last: less than a slow start takes.
    while await asyncio.wait_for(states.get(), 60) is not SessionState.CONNECTED:
        pass
    assert (await tree.get("/a"))[0] == b"kept"
    await tree.close()
    await again.stop()


async def test_taken_port_is_reported(zookeeper, tmp_path):
    taken = ZooKeeperServer(ServerConfig(tmp_path, port=zookeeper.port))
    with pytest.raises(LocalError, match="cannot listen"):
        await taken.start()


async def test_server_that_dies_names_the_reason(tmp_path):
    server = ZooKeeperServer(ServerConfig(tmp_path, tick_ms=-1, max_heap="1"))
    with pytest.raises(UnavailableError, match="exit code"):
        await server.start()
    await server.stop()


async def test_requests_in_flight_are_limited(zookeeper, chroot):
    """`zookeeper.max.in.flight.requests`: the rest wait, in order, and none is lost."""
    tree = await connect(f"{zookeeper.connect_string}{chroot}", max_in_flight=2)
    unanswered, most = 0, 0
    ask = tree._client.get_children_async

    def counted(*arguments):
        nonlocal unanswered, most
        unanswered += 1
        most = max(most, unanswered)
        answer = ask(*arguments)
        answer.rawlink(lambda _: tree._loop.call_soon_threadsafe(ended))
        return answer

    def ended():
        nonlocal unanswered
        unanswered -= 1

    tree._client.get_children_async = counted
    try:
        found = await asyncio.gather(*(tree.children("/") for _ in range(20)))
    finally:
        await tree.close()
    assert (len(found), most) == (20, 2)
