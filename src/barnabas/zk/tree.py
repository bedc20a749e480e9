"""The metadata tree port: what the cluster needs of ZooKeeper, and nothing else.

A tree of small nodes with versions, ephemeral nodes that die with their session, sequential
names, one-shot watches and atomic multi-writes. Two adapters implement it: `sqlite_tree` for a
broker that runs alone and `kazoo_tree` for a ZooKeeper ensemble. Both pass one contract suite.

Two rules make the port safe to program against:

- A watch fires at most once. It may fire without a change (`WatchKind.DROPPED`, when the
  connection was lost and the server's memory of the watch with it), so a reader always reads
  again instead of trusting the event.
- `ConnectionLossError` on a write means that nobody knows whether it happened. Adapters resolve
  what they can by reading back; callers make every write conditional on a version.
"""

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from barnabas.model.errors import BarnabasError

ANY_VERSION = -1
MAX_NODE_BYTES = 1_000_000
"""ZooKeeper drops the connection of a client that sends more than jute.maxbuffer (1 MiB)."""


class TreeError(BarnabasError):
    """Root of what the metadata tree can refuse."""


class NodeError(TreeError):
    """An error about one node, named by its path."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{type(self).__name__}: {self.path}"


class NoNodeError(NodeError):
    """The node, or the parent of the node to create, does not exist."""


class NodeExistsError(NodeError):
    """The node to create is there already."""


class BadVersionError(NodeError):
    """The node has another version than the write was conditional on."""


class NotEmptyError(NodeError):
    """A node with children cannot be deleted."""


class NoChildrenForEphemeralsError(NodeError):
    """An ephemeral node cannot have children."""


class NodeTooLargeError(NodeError):
    """The data would not pass ZooKeeper's limit for one packet; nothing was sent."""


class SessionLostError(TreeError):
    """The session has ended and its ephemeral nodes are gone; so has the right to act on it."""


class ConnectionLossError(TreeError):
    """The connection failed; whether the operation happened is not known."""

    @property
    def retriable(self) -> bool:
        return True


class MultiError(TreeError):
    """A multi that was refused as a whole, with the operation that failed and why."""

    def __init__(self, index: int, operation: "Op", cause: TreeError) -> None:
        super().__init__(index, operation, cause)
        self.index = index
        self.operation = operation
        self.cause = cause

    def __str__(self) -> str:
        return f"operation {self.index} of a multi failed: {self.cause}"


class SessionState(enum.Enum):
    """The session as its owner must treat it.

    - CONNECTED: act.
    - SUSPENDED: the connection is down, the session may live or not: stop acting as leader or
      controller, keep the state. Leads to CONNECTED or LOST.
    - LOST: the session is over, its ephemeral nodes and watches are gone: drop all that it held.
      CONNECTED follows with a new session id.
    - CLOSED: by `close()`; final.
    """

    CONNECTED = "connected"
    SUSPENDED = "suspended"
    LOST = "lost"
    CLOSED = "closed"


class WatchKind(enum.Enum):
    """What a watch saw."""

    CREATED = "created"
    DELETED = "deleted"
    CHANGED = "changed"
    CHILD = "child"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """The one event a watch delivers."""

    kind: WatchKind
    path: str


Watch = Callable[[WatchEvent], None]
SessionListener = Callable[[SessionState], None]


@dataclass(frozen=True, slots=True)
class Stat:
    """A node's bookkeeping. `ephemeral_owner` is 0 for persistent nodes.

    The last three are ZooKeeper's own, for its shell; the embedded tree does not keep them.
    """

    czxid: int
    mzxid: int
    version: int
    ephemeral_owner: int
    num_children: int
    ctime_ms: int
    mtime_ms: int
    pzxid: int = 0
    cversion: int = 0
    acl_version: int = 0


@dataclass(frozen=True, slots=True)
class CreateOp:
    """Create a node."""

    path: str
    data: bytes = b""
    ephemeral: bool = False
    sequential: bool = False


@dataclass(frozen=True, slots=True)
class SetOp:
    """Replace a node's data."""

    path: str
    data: bytes
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class DeleteOp:
    """Delete a node that has no children."""

    path: str
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class CheckOp:
    """Refuse the multi unless the node has this version."""

    path: str
    version: int


Op = CreateOp | SetOp | DeleteOp | CheckOp
OpResult = str | Stat | None
"""The created path, the new stat of a set, None for delete and check."""


class MetadataTree(Protocol):
    """One session on the tree. All calls and callbacks happen on the loop that opened it."""

    @property
    def session_id(self) -> int: ...

    @property
    def state(self) -> SessionState: ...

    def add_session_listener(self, listener: SessionListener) -> None:
        """Tell `listener` each later change of state, on the loop, in order."""
        ...

    async def create(
        self, path: str, data: bytes = b"", *, ephemeral: bool = False, sequential: bool = False
    ) -> str:
        """Create a node and return its path, which a sequential node gets a number added to."""
        ...

    async def ensure_path(self, path: str) -> None:
        """Create the node and its ancestors, without data, where they are missing."""
        ...

    async def get(self, path: str, watch: Watch | None = None) -> tuple[bytes, Stat]:
        """Data and stat; NoNodeError, and no watch left, when there is no node."""
        ...

    async def exists(self, path: str, watch: Watch | None = None) -> Stat | None:
        """The stat or None; the watch is left in either case."""
        ...

    async def set(self, path: str, data: bytes, version: int = ANY_VERSION) -> Stat:
        """Replace the data when the version is still the given one."""
        ...

    async def delete(self, path: str, version: int = ANY_VERSION) -> None: ...

    async def children(self, path: str, watch: Watch | None = None) -> list[str]:
        """Names of the children, sorted."""
        ...

    async def multi(self, ops: Sequence[Op]) -> list[OpResult]:
        """All of it or none of it; MultiError names the operation that was refused."""
        ...

    async def close(self) -> None:
        """End the session: its ephemeral nodes go at once."""
        ...


def parent_of(path: str) -> str:
    """
    >>> parent_of("/brokers/ids"), parent_of("/brokers")
    ('/brokers', '/')
    """
    return path.rpartition("/")[0] or "/"


def name_of(path: str) -> str:
    """
    >>> name_of("/brokers/ids")
    'ids'
    """
    return path.rpartition("/")[2]


def ancestors_of(path: str) -> list[str]:
    """The path and all above it except the root, top first.

    >>> ancestors_of("/a/b")
    ['/a', '/a/b']
    """
    parts = path.strip("/").split("/")
    return ["/" + "/".join(parts[: index + 1]) for index in range(len(parts))]


def check_size(path: str, data: bytes) -> None:
    """Refuse data that ZooKeeper would answer by dropping the connection."""
    if len(data) > MAX_NODE_BYTES:
        raise NodeTooLargeError(path)
