"""The embedded metadata tree: ZooKeeper's behaviour in one process, durable in a SQLite file.

All nodes live in memory, reads never touch the disk. Writes queue up; one task stages all that
wait, commits them as one transaction in a worker thread, then makes them visible, fires watches
and answers. So a write that was answered is on disk, writes that arrive together share an fsync,
and the loop never waits for the disk. Without a file the tree lives and dies with its store.

Several sessions share one store: the brokers of a cluster in one process, or of a test.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from barnabas.model.clock import Clock
from barnabas.zk.node_store import NodeStore, Origin, StagedTree
from barnabas.zk.sqlite_journal import SqliteJournal
from barnabas.zk.tree import (
    ANY_VERSION,
    ConnectionLossError,
    CreateOp,
    DeleteOp,
    MultiError,
    NodeExistsError,
    NoNodeError,
    Op,
    OpResult,
    SessionListener,
    SessionLostError,
    SessionState,
    SetOp,
    Stat,
    Watch,
    WatchEvent,
    ancestors_of,
)
from barnabas.zk.watches import WatchTable

_log = logging.getLogger(__name__)

_Answer = asyncio.Future[list[OpResult]]


@dataclass(slots=True)
class _Write:
    """A queued multi, or, when `ops` is None, the end of a session."""

    session_id: int
    ops: Sequence[Op] | None
    answer: _Answer


class EmbeddedStore:
    """The tree itself. Open it on a running loop; `session()` hands out sessions.

    On opening, no session of an earlier process is alive, so no ephemeral node is either.
    """

    def __init__(self, clock: Clock, path: Path | None = None) -> None:
        self._clock = clock
        self._journal = SqliteJournal(path) if path is not None else None
        self._worker = ThreadPoolExecutor(1, "metadata-tree") if self._journal else None
        self._nodes = NodeStore()
        generation = 0
        if self._journal is not None:
            self._nodes.load(self._journal.rows())
            generation = self._journal.generation
        self._zxid = generation << 32
        self._next_session_id = (generation << 32) + 1
        self._sessions: dict[int, EmbeddedTree] = {}
        self._queue: list[_Write] = []
        self._writer: asyncio.Task[None] | None = None

    def session(self) -> "EmbeddedTree":
        """A new connected session."""
        return EmbeddedTree(self)

    async def close(self) -> None:
        """End all sessions and close the file."""
        for session in list(self._sessions.values()):
            await session.close()
        if self._writer is not None:
            await self._writer
        if self._journal is not None and self._worker is not None:
            await asyncio.get_running_loop().run_in_executor(self._worker, self._journal.close)
            self._worker.shutdown(wait=False)

    @property
    def nodes(self) -> NodeStore:
        """The committed nodes, for sessions to read."""
        return self._nodes

    def register(self, session: "EmbeddedTree") -> int:
        session_id = self._next_session_id
        self._next_session_id += 1
        self._sessions[session_id] = session
        return session_id

    async def write(self, session_id: int, ops: Sequence[Op] | None) -> list[OpResult]:
        """Queue a write, or with None the end of the session, and wait until it is durable.

        The work is the writer task's, so a caller that is cancelled while waiting cannot leave
        memory and disk different.
        """
        loop = asyncio.get_running_loop()
        answer: _Answer = loop.create_future()
        self._queue.append(_Write(session_id, ops, answer))
        if self._writer is None:
            self._writer = loop.create_task(self._drain())
        return await answer

    async def _drain(self) -> None:
        try:
            while self._queue:
                batch, self._queue = self._queue, []
                await self._process(batch)
        finally:
            self._writer = None

    async def _process(self, batch: list[_Write]) -> None:
        staged = StagedTree(self._nodes)
        outcomes = [(write.answer, self._stage(staged, write)) for write in batch]
        try:
            await self._make_durable(staged)
        except sqlite3.Error as error:
            _log.error("the metadata tree could not be written: %s", error)
            failure = ConnectionLossError(f"the metadata tree could not be written: {error}")
            outcomes = [(write.answer, failure if write.ops else []) for write in batch]
            staged = self._stage_ends_alone(batch)
        staged.commit_to(self._nodes)
        self._fire(staged)
        for answer, outcome in outcomes:
            _resolve(answer, outcome)

    def _stage(self, staged: StagedTree, write: _Write) -> list[OpResult] | Exception:
        self._zxid += 1
        origin = Origin(write.session_id, self._zxid, self._clock.now_ms())
        if write.session_id not in self._sessions:
            return SessionLostError(f"session {write.session_id:#x} has ended")
        if write.ops is None:
            del self._sessions[write.session_id]
            staged.end_session(self._ephemerals(staged, write.session_id), origin)
            return []
        try:
            return staged.multi(write.ops, origin)
        except MultiError as error:
            return error

    def _stage_ends_alone(self, batch: list[_Write]) -> StagedTree:
        """The sessions that ended in a batch that failed: they end all the same."""
        staged = StagedTree(self._nodes)
        for write in batch:
            if write.ops is None:
                origin = Origin(write.session_id, self._zxid, self._clock.now_ms())
                staged.end_session(self._nodes.owned_by(write.session_id), origin)
        return staged

    def _ephemerals(self, staged: StagedTree, session_id: int) -> list[str]:
        """A session's nodes, with what earlier writes of the same batch created and removed."""
        paths = {*self._nodes.owned_by(session_id), *staged.changes}
        found = ((path, staged.lookup(path)) for path in paths)
        return sorted(path for path, node in found if node and node.owner == session_id)

    async def _make_durable(self, staged: StagedTree) -> None:
        if self._journal is None or not staged.durable:
            return
        rows = [(path, staged.changes[path]) for path in sorted(staged.durable)]
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._worker, self._journal.commit, rows)

    def _fire(self, staged: StagedTree) -> None:
        for session in self._sessions.values():
            for kind, path in staged.events:
                _deliver(session.watches.take(kind, path))


class EmbeddedTree:
    """One session on an embedded store: a `MetadataTree`.

    `suspend`, `resume` and `expire` make it go through what a session on a real ensemble can.
    """

    def __init__(self, store: EmbeddedStore) -> None:
        self._store = store
        self._listeners: list[SessionListener] = []
        self.watches = WatchTable()
        self._state = SessionState.CONNECTED
        self._session_id = store.register(self)

    @property
    def session_id(self) -> int:
        return self._session_id

    @property
    def state(self) -> SessionState:
        return self._state

    def add_session_listener(self, listener: SessionListener) -> None:
        self._listeners.append(listener)

    async def create(
        self, path: str, data: bytes = b"", *, ephemeral: bool = False, sequential: bool = False
    ) -> str:
        result = await self._single(CreateOp(path, data, ephemeral, sequential))
        assert isinstance(result, str)
        return result

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
        self.watches.watch_data(path, watch)
        node = self._store.nodes.lookup(path)
        return node.stat() if node is not None else None

    async def set(self, path: str, data: bytes, version: int = ANY_VERSION) -> Stat:
        result = await self._single(SetOp(path, data, version))
        assert isinstance(result, Stat)
        return result

    async def delete(self, path: str, version: int = ANY_VERSION) -> None:
        await self._single(DeleteOp(path, version))

    async def children(self, path: str, watch: Watch | None = None) -> list[str]:
        self._check_readable()
        if self._store.nodes.lookup(path) is None:
            raise NoNodeError(path)
        self.watches.watch_children(path, watch)
        return self._store.nodes.children(path)

    async def multi(self, ops: Sequence[Op]) -> list[OpResult]:
        self._check_readable()
        return await self._store.write(self._session_id, ops) if ops else []

    async def close(self) -> None:
        if self._state is SessionState.CLOSED:
            return
        alive = self._state is not SessionState.LOST
        self._state = SessionState.CLOSED
        self.watches.take_all()
        if alive:
            await self._store.write(self._session_id, None)
        self._tell(SessionState.CLOSED)

    def suspend(self) -> None:
        """Cut the connection: the session lives, its owner cannot know that."""
        self._become(SessionState.SUSPENDED)
        _deliver(self.watches.take_all())

    def resume(self) -> None:
        """Reconnect within the session."""
        self._become(SessionState.CONNECTED)

    async def expire(self, *, reconnect: bool = True) -> None:
        """End the session on the server's side, then start a new one as a client would."""
        await self._store.write(self._session_id, None)
        self._become(SessionState.LOST)
        _deliver(self.watches.take_all())
        if reconnect:
            self.reconnect()

    def reconnect(self) -> None:
        """A new session after LOST."""
        self._session_id = self._store.register(self)
        self._become(SessionState.CONNECTED)

    async def _single(self, op: Op) -> OpResult:
        try:
            return (await self.multi([op]))[0]
        except MultiError as error:
            raise error.cause from None

    def _check_readable(self) -> None:
        if self._state is SessionState.SUSPENDED:
            raise ConnectionLossError("the connection is suspended")
        if self._state is not SessionState.CONNECTED:
            raise SessionLostError(f"session {self._session_id:#x} has ended")

    def _become(self, state: SessionState) -> None:
        self._state = state
        self._tell(state)

    def _tell(self, state: SessionState) -> None:
        loop = asyncio.get_running_loop()
        for listener in self._listeners:
            loop.call_soon(listener, state)


def _deliver(fired: list[tuple[Watch, WatchEvent]]) -> None:
    loop = asyncio.get_running_loop()
    for watch, event in fired:
        callback: Callable[[WatchEvent], None] = watch
        loop.call_soon(callback, event)


def _resolve(answer: _Answer, outcome: list[OpResult] | Exception) -> None:
    if answer.done():
        return
    if isinstance(outcome, Exception):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)
