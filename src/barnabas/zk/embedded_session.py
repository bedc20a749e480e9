"""One session on the embedded tree: reads, watches and session states.

Reads use the committed nodes of the store; the store (`sqlite_tree`) does the writes. This module
uses the store through a port: the committed nodes, a queue for writes, session ids.
"""

import asyncio
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Protocol

from barnabas.zk.node_store import NodeStore
from barnabas.zk.tree import (
    ConnectionLossError,
    CreateOp,
    MultiError,
    NodeExistsError,
    NoNodeError,
    Op,
    OpResult,
    SessionLostError,
    SessionState,
    Stat,
    TreeSession,
    Watch,
    WatchEvent,
    WatchKind,
    ancestors_of,
)


class Store(Protocol):
    """The part of the store that a session uses."""

    @property
    def nodes(self) -> NodeStore: ...

    def register(self, session: "EmbeddedTree") -> int:
        """Registers a session and returns its id."""
        ...

    async def write(self, session_id: int, ops: Sequence[Op] | None) -> list[OpResult]:
        """Writes durably; None ends the session."""
        ...


class EmbeddedTree(TreeSession):
    """One session on an embedded store: a `MetadataTree`.

    `suspend`, `resume` and `expire` simulate the states of a session on a real ensemble.
    `request_time` contains only writes: a read needs no request.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(SessionState.CONNECTED)
        self._store = store
        self.watches = WatchTable()
        self._session_id = store.register(self)

    async def ensure_path(self, path: str) -> None:
        lookup = self._store.nodes.lookup
        while missing := [step for step in ancestors_of(path) if lookup(step) is None]:
            try:
                await self.multi([CreateOp(step) for step in missing])
            except MultiError as error:
                if not isinstance(error.cause, NodeExistsError):
                    raise error.cause from error

    async def get(self, path: str, watch: Watch | None = None) -> tuple[bytes, Stat]:
        self._check_readable()
        node = self._store.nodes.lookup(path)
        if node is None:
            raise NoNodeError(path)
        self.watches.watch_data(path, watch)
        return node.data, node.stat()

    async def exists(self, path: str, watch: Watch | None = None) -> Stat | None:
        self._check_readable()
        # Before the lookup: `exists` also watches the creation of a missing node.
        self.watches.watch_data(path, watch)
        node = self._store.nodes.lookup(path)
        return node.stat() if node is not None else None

    async def children(self, path: str, watch: Watch | None = None) -> list[str]:
        self._check_readable()
        if self._store.nodes.lookup(path) is None:
            raise NoNodeError(path)
        self.watches.watch_children(path, watch)
        return self._store.nodes.children(path)

    async def multi(self, ops: Sequence[Op]) -> list[OpResult]:
        self._check_readable()
        if not ops:
            return []
        started_ns = perf_counter_ns()
        try:
            return await self._store.write(self._session_id, ops)
        finally:
            self._request_time.record(perf_counter_ns() - started_ns)

    async def close(self) -> None:
        if self._state is SessionState.CLOSED:
            return
        alive = self._state is not SessionState.LOST
        self._state = SessionState.CLOSED
        self.watches.take_all()
        if alive:
            await self._store.write(self._session_id, None)
        self._notify(SessionState.CLOSED)

    def suspend(self) -> None:
        """Cuts the connection: the session continues, but its owner cannot determine that."""
        self._become(SessionState.SUSPENDED)
        deliver(self.watches.take_all())

    def resume(self) -> None:
        """Reconnect within the session."""
        self._become(SessionState.CONNECTED)

    async def expire(self, *, reconnect: bool = True) -> None:
        """Ends the session on the server, then starts a new one as a client does."""
        # The server deletes the ephemeral nodes before the client learns that its session has
        # ended.
        await self._store.write(self._session_id, None)
        self._become(SessionState.LOST)
        deliver(self.watches.take_all())
        if reconnect:
            self.reconnect()

    def reconnect(self) -> None:
        """A new session after LOST."""
        self._session_id = self._store.register(self)
        self._become(SessionState.CONNECTED)

    def _check_readable(self) -> None:
        if self._state is SessionState.SUSPENDED:
            raise ConnectionLossError("the connection is suspended")
        if self._state is not SessionState.CONNECTED:
            raise SessionLostError(f"session {self._session_id:#x} has ended")

    def _become(self, state: SessionState) -> None:
        self._state = state
        self._notify(state)

    def _notify(self, state: SessionState) -> None:
        loop = asyncio.get_running_loop()
        for listener in self._listeners:
            loop.call_soon(listener, state)


def deliver(fired: list[tuple[Watch, WatchEvent]]) -> None:
    """Calls watchers, each in a separate callback of the loop."""
    loop = asyncio.get_running_loop()
    for watch, event in fired:
        callback: Callable[[WatchEvent], None] = watch
        # A watch may write to the tree again; called directly, it would run inside the commit of
        # the write that fired it.
        loop.call_soon(callback, event)


# --- watches -------------------------------------------------------------------------------------


class WatchTable:
    """Data watches and child watches, as in ZooKeeper.

    `exists` and `get` set data watches, `children` sets child watches; a deletion fires both. The
    same callback set twice on a path fires once.
    """

    def __init__(self) -> None:
        self._data: dict[str, dict[Watch, None]] = {}
        self._children: dict[str, dict[Watch, None]] = {}

    def watch_data(self, path: str, watch: Watch | None) -> None:
        if watch is not None:
            self._data.setdefault(path, {})[watch] = None

    def watch_children(self, path: str, watch: Watch | None) -> None:
        if watch is not None:
            self._children.setdefault(path, {})[watch] = None

    def take(self, kind: WatchKind, path: str) -> list[tuple[Watch, WatchEvent]]:
        """Removes and returns the watches that this change fires."""
        fired: dict[Watch, None] = {}
        if kind is not WatchKind.CHILD and path in self._data:
            fired |= self._data.pop(path)
        if (kind is WatchKind.CHILD or kind is WatchKind.DELETED) and path in self._children:
            fired |= self._children.pop(path)
        return [(watch, WatchEvent(kind, path)) for watch in fired]

    def take_all(self) -> list[tuple[Watch, WatchEvent]]:
        """Removes and returns every watch, after the connection was lost."""
        tables = (self._data, self._children)
        dropped = [
            (watch, WatchEvent(WatchKind.DROPPED, path))
            for table in tables
            for path, watches in table.items()
            for watch in watches
        ]
        for table in tables:
            table.clear()
        return dropped
