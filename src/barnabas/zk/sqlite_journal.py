"""The embedded tree on disk: one SQLite file, one row per persistent node.

Rows contain path, data, czxid, mzxid, version, number of children ever created, ctime and mtime.
The only row of `opening` counts how often the file was opened. This number is the upper half of
every transaction number, like the leader's epoch in ZooKeeper. So transaction numbers increase over
restarts, although transactions on ephemeral nodes are not written.

Write-ahead logging with synchronous=FULL: a commit is one append and one fsync, and survives a
power loss. The exclusive lock prevents the use by a second process.
"""

import logging
import os
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from barnabas.model.errors import LocalError
from barnabas.zk.node_store import PERSISTENT, StoredNode

_log = logging.getLogger(__name__)

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
