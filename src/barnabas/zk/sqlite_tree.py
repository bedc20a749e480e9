"""The embedded metadata tree: ZooKeeper's behaviour in one process, durable in a SQLite file.

All nodes are in memory; reads do not use the disk. Writes are queued. One task stages all queued
writes, commits them as one transaction in a worker thread, then makes them visible, fires watches
and completes the calls. So a completed write is on disk, concurrent writes share an fsync, and the
loop never waits for the disk. Without a file the tree is lost with its store.

Several sessions share one store: the brokers of a cluster in one process, or of a test.
`embedded_session` implements the sessions.

The file has one row per persistent node: path, data, czxid, mzxid, version, number of children ever
created, ctime and mtime. The only row of `opening` counts how often the file was opened. This
number is the upper half of every transaction number, like the leader's epoch in ZooKeeper. So
transaction numbers increase over restarts, although transactions on ephemeral nodes are not
written. Write-ahead logging with synchronous=FULL: a commit is one append and one fsync, and
survives a power loss. The exclusive lock prevents the use by a second process.
"""

import asyncio
import logging
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from barnabas.model.errors import LocalError
from barnabas.runtime.clock import Clock
from barnabas.runtime.slices import in_slices
from barnabas.zk.embedded_session import EmbeddedTree, deliver
from barnabas.zk.node_store import PERSISTENT, ChangeOrigin, NodeStore, StagedTree, StoredNode
from barnabas.zk.tree import (
    ConnectionLossError,
    MultiError,
    Op,
    OpResult,
    SessionLostError,
)

_SCHEMA_VERSION = 1
_NODES = """
CREATE TABLE IF NOT EXISTS node (
  path TEXT PRIMARY KEY, data BLOB NOT NULL, czxid INTEGER NOT NULL, mzxid INTEGER NOT NULL,
  version INTEGER NOT NULL, created INTEGER NOT NULL, ctime_ms INTEGER NOT NULL,
  mtime_ms INTEGER NOT NULL
) WITHOUT ROWID
"""
_OPENINGS = "CREATE TABLE IF NOT EXISTS opening (id INTEGER PRIMARY KEY, generation INTEGER)"
_NEXT_OPENING = """
INSERT INTO opening VALUES (0, 1)
ON CONFLICT (id) DO UPDATE SET generation = generation + 1 RETURNING generation
"""
_PUT = "INSERT OR REPLACE INTO node VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


class SqliteJournal:
    """Opened and read once on the loop; afterwards one worker thread at a time commits."""

    def __init__(self, path: Path) -> None:
        _make_private(path)
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0)
        try:
            self.generation = self._open()
        except (sqlite3.Error, LocalError) as error:
            self._db.close()
            raise LocalError(f"cannot open the metadata tree at {path}: {error}") from error

    def _open(self) -> int:
        execute = self._db.execute
        # A second process fails at once instead of changing the tree behind this one.
        execute("PRAGMA locking_mode=EXCLUSIVE")
        execute("PRAGMA journal_mode=WAL")
        execute("PRAGMA synchronous=FULL")
        execute("BEGIN IMMEDIATE")
        version = execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _SCHEMA_VERSION):
            raise LocalError(f"its format {version} is unknown")
        execute(_NODES)
        execute(_OPENINGS)
        execute(f"PRAGMA user_version={_SCHEMA_VERSION}")
        generation = int(execute(_NEXT_OPENING).fetchone()[0])
        execute("COMMIT")
        return generation

    def rows(self) -> Iterator[tuple[str, StoredNode]]:
        """All nodes, parents before children."""
        query = "SELECT path, data, czxid, mzxid, version, created, ctime_ms, mtime_ms FROM node"
        for path, data, czxid, mzxid, version, created, ctime_ms, mtime_ms in self._db.execute(
            query + " ORDER BY path"
        ):
            node = StoredNode(
                data, czxid, mzxid, version, created, PERSISTENT, 0, ctime_ms, mtime_ms
            )
            yield path, node

    def commit(self, changes: Iterable[tuple[str, StoredNode | None]]) -> None:
        """Writes a batch of changes durably; after an error none of them is stored."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            for path, node in changes:
                self._write(path, node)
            self._db.execute("COMMIT")
        except sqlite3.Error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def _write(self, path: str, node: StoredNode | None) -> None:
        if node is None:
            self._db.execute("DELETE FROM node WHERE path = ?", (path,))
            return
        row = (path, node.data, node.czxid, node.mzxid, node.version, node.created)
        self._db.execute(_PUT, (*row, node.ctime_ms, node.mtime_ms))

    def close(self) -> None:
        self._db.close()


def _make_private(path: Path) -> None:
    """Allows only the owner to read the file, because the tree contains SCRAM keys.

    SQLite creates its write-ahead log with the same mode. An existing file is not opened here:
    closing it would release the locks of this process on it.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        _restrict(path)
    except OSError as error:
        raise LocalError(f"cannot open the metadata tree at {path}: {error.strerror}") from error


def _restrict(path: Path) -> None:
    try:
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
    except OSError as error:
        _log.warning("other users may be able to read %s: %s", path, error.strerror)


_log = logging.getLogger(__name__)

_WriteResult = asyncio.Future[list[OpResult]]


@dataclass(slots=True)
class _Write:
    """A queued multi, or, when `ops` is None, the end of a session."""

    session_id: int
    ops: Sequence[Op] | None
    result: _WriteResult


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
        # As ZooKeeper's epoch in the upper half: ids never repeat, although the counter in the
        # lower half is not stored.
        self._zxid = generation << 32
        self._next_session_id = (generation << 32) + 1
        self._sessions: dict[int, EmbeddedTree] = {}
        self._queue: list[_Write] = []
        self._writer: asyncio.Task[None] | None = None

    def session(self) -> EmbeddedTree:
        """A new connected session."""
        return EmbeddedTree(self)

    async def close(self) -> None:
        """Ends all sessions and closes the file."""
        for session in list(self._sessions.values()):
            await session.close()
        # The end of a session deletes its ephemeral nodes, which the writer still has to store.
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
        result: _WriteResult = loop.create_future()
        self._queue.append(_Write(session_id, ops, result))
        if self._writer is None:
            self._writer = loop.create_task(self._drain())
        return await result

    async def _drain(self) -> None:
        try:
            while self._queue:
                batch, self._queue = self._queue, []
                await self._process(batch)
        finally:
            self._writer = None

    async def _process(self, batch: list[_Write]) -> None:
        # One transaction of SQLite for all writes that were queued during the previous one: the
        # sync dominates its cost.
        staged = StagedTree(self._nodes)
        outcomes = [
            (write.result, await self._stage(staged, write)) async for write in in_slices(batch)
        ]
        try:
            await self._make_durable(staged)
        except sqlite3.Error as error:
            _log.error("the metadata tree could not be written: %s", error)
            failure = ConnectionLossError(f"the metadata tree could not be written: {error}")
            outcomes = [(write.result, failure if write.ops else []) for write in batch]
            staged = self._stage_ends_alone(batch)
        # Readers and watches get a change only after it is durable.
        staged.commit_to(self._nodes)
        self._fire(staged)
        for result, outcome in outcomes:
            _resolve(result, outcome)

    async def _stage(self, staged: StagedTree, write: _Write) -> list[OpResult] | Exception:
        self._zxid += 1
        origin = ChangeOrigin(write.session_id, self._zxid, self._clock.now_ms())
        if write.session_id not in self._sessions:
            return SessionLostError(f"session {write.session_id:#x} has ended")
        if write.ops is None:
            del self._sessions[write.session_id]
            staged.end_session(self._ephemerals(staged, write.session_id), origin)
            return []
        try:
            return [result async for result in in_slices(staged.multi(write.ops, origin))]
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


def _resolve(result: _WriteResult, outcome: list[OpResult] | Exception) -> None:
    if result.done():
        return
    if isinstance(outcome, Exception):
        result.set_exception(outcome)
    else:
        result.set_result(outcome)
