"""An embedded session: its states, and its calls of the store."""

import asyncio

import pytest

from barnabas.zk.embedded_session import EmbeddedTree
from barnabas.zk.node_store import NodeStore
from barnabas.zk.tree import ConnectionLossError, SessionLostError, SessionState


class Store:
    """Records writes and stores nothing."""

    def __init__(self):
        self.nodes = NodeStore()
        self.written = []
        self.ids = iter(range(1, 10))

    def register(self, session):
        return next(self.ids)

    async def write(self, session_id, ops):
        self.written.append((session_id, ops))
        return []


@pytest.fixture
def store():
    return Store()


async def test_a_suspended_session_answers_nothing_until_it_is_back(store):
    session, told, events = EmbeddedTree(store), [], []
    session.add_session_listener(told.append)
    await session.exists("/a", events.append)
    session.suspend()
    with pytest.raises(ConnectionLossError):
        await session.exists("/a")
    session.resume()
    assert await session.exists("/a") is None
    await asyncio.sleep(0)
    assert told == [SessionState.SUSPENDED, SessionState.CONNECTED]
    assert len(events) == 1  # a watch may have missed something


async def test_an_expired_session_goes_on_as_another(store):
    session = EmbeddedTree(store)
    await session.expire(reconnect=False)
    with pytest.raises(SessionLostError):
        await session.multi([])
    session.reconnect()
    assert (session.session_id, session.state) == (2, SessionState.CONNECTED)
    assert store.written == [(1, None)]


async def test_closing_ends_the_session_once(store):
    session = EmbeddedTree(store)
    await session.close()
    await session.close()
    assert store.written == [(1, None)]
