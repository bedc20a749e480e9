"""The embedded metadata tree: ZooKeeper's behaviour in one process, durable in a SQLite file.

All nodes are in memory; reads do not use the disk. Writes are queued. One task stages all queued
writes, commits them as one transaction in a worker thread, then makes them visible, fires watches
and completes the calls. So a completed write is on disk, concurrent writes share an fsync, and the
loop never waits for the disk. Without a file the tree is lost with its store.

Several sessions share one store: the brokers of a cluster in one process, or of a test.
`embedded_session` implements the sessions.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from barnabas.runtime.clock import Clock
from barnabas.zk.embedded_session import EmbeddedTree, deliver
from barnabas.zk.node_store import ChangeOrigin, NodeStore, StagedTree
from barnabas.zk.sqlite_journal import SqliteJournal
from barnabas.zk.tree import (
    ConnectionLossError,
    MultiError,
    Op,
    OpResult,
    SessionLostError,
)

_log = logging.getLogger(__name__)

_Answer = asyncio.Future[list[OpResult]]


@dataclass(slots=True)
class _Write:
    """A queued multi, or, when `ops` is None, the end of a session."""

    session_id: int
    ops: Sequence[Op] | None
    answer: _Answer


class EmbeddedStore:
    """The tree itself. Open it on a running loop; `session()` creates sessions.

    No session of an earlier process exists at that time, and so no ephemeral node.
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

    def session(self) -> EmbeddedTree:
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

    def register(self, session: EmbeddedTree) -> int:
        session_id = self._next_session_id
        self._next_session_id += 1
        self._sessions[session_id] = session
        return session_id

    async def write(self, session_id: int, ops: Sequence[Op] | None) -> list[OpResult]:
        """Queues a write, or with None the end of the session, and waits until it is durable.

        The writer task does the work, so memory and disk stay equal if the caller is cancelled.
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
        origin = ChangeOrigin(write.session_id, self._zxid, self._clock.now_ms())
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
        """Stages the ends of sessions in a batch that failed: the sessions end nevertheless."""
        staged = StagedTree(self._nodes)
        for write in batch:
            if write.ops is None:
                origin = ChangeOrigin(write.session_id, self._zxid, self._clock.now_ms())
                staged.end_session(self._nodes.owned_by(write.session_id), origin)
        return staged

    def _ephemerals(self, staged: StagedTree, session_id: int) -> list[str]:
        """Returns a session's nodes, including the changes of earlier writes in the same batch."""
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
                deliver(session.watches.take(kind, path))


def _resolve(answer: _Answer, outcome: list[OpResult] | Exception) -> None:
    if answer.done():
        return
    if isinstance(outcome, Exception):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)
