"""The port of the metadata tree: the part of ZooKeeper's API that a cluster needs.

A tree of small nodes with versions, ephemeral nodes that are deleted with their session, sequential
names, one-shot watches and atomic multi-writes. Two adapters implement it: `sqlite_tree` for a
single broker and `kazoo_tree` for a ZooKeeper ensemble. Both pass one contract suite.

Two rules make the port safe to program against:

- A watch fires at most once. It may fire without a change (`WatchKind.DROPPED`, when the connection
and with it the server's watch was lost), so a reader always reads the node again and ignores the
contents of the event.
- After `ConnectionLossError` it is unknown whether a write was applied. Adapters determine it by
reading if possible; callers make every write conditional on a version.
"""

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from barnabas.model.errors import BarnabasError
from barnabas.runtime.metrics import Histogram

ANY_VERSION = -1
MAX_NODE_BYTES = 1_000_000
"""ZooKeeper drops the connection of a client that sends more than jute.maxbuffer (1 MiB)."""


class TreeError(BarnabasError):
    """Base class of errors of the metadata tree."""


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
    """The node to create exists already."""


class BadVersionError(NodeError):
    """The node has another version than the write was conditional on."""


class NotEmptyError(NodeError):
    """A node with children cannot be deleted."""


class NoChildrenForEphemeralsError(NodeError):
    """An ephemeral node cannot have children."""


class NodeTooLargeError(NodeError):
    """The data exceeds ZooKeeper's limit for one packet; nothing was sent."""


class SessionLostError(TreeError):
    """The session has ended, its ephemeral nodes are deleted, and its owner must not act any
    more.
    """


class ConnectionLossError(TreeError):
    """The connection failed; it is unknown whether the operation was applied."""

    @property
    def retriable(self) -> bool:
        return True


class MultiError(TreeError):
    """A multi was rejected; has the operation that failed and its error."""

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
    - SUSPENDED: the connection is lost and the session may have expired: stop acting as leader or
    controller, keep the state. Leads to CONNECTED or LOST.
    - LOST: the session has ended, its ephemeral nodes and watches are deleted: drop all state of
    it.
      CONNECTED follows with a new session id.
    - CLOSED: by `close()`; final.
    """

    CONNECTED = "connected"
    SUSPENDED = "suspended"
    LOST = "lost"
    CLOSED = "closed"


class WatchKind(enum.Enum):
    """The change that fired a watch."""

    CREATED = "created"
    DELETED = "deleted"
    CHANGED = "changed"
    CHILD = "child"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """The only event of a watch."""

    kind: WatchKind
    path: str


Watch = Callable[[WatchEvent], None]
SessionListener = Callable[[SessionState], None]


@dataclass(frozen=True, slots=True)
class Stat:
    """A node's bookkeeping. `ephemeral_owner` is 0 for persistent nodes.

    `cversion` counts the creations and deletions of children. `pzxid` and `acl_version` are for
    ZooKeeper's shell; the embedded tree does not have them.
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

    @property
    def next_sequence(self) -> int:
        """Number of the next sequential child: how many children were created so far."""
        return (self.cversion + self.num_children) // 2


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
    """Deletes a node that has no children."""

    path: str
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class CheckOp:
    """Fail the multi unless the node has this version."""

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

    @property
    def request_time(self) -> Histogram:
        """Metric: nanoseconds from a request to its response."""
        ...

    def add_session_listener(self, listener: SessionListener) -> None:
        """Calls `listener` for each later change of state, on the loop, in order."""
        ...

    async def create(
        self, path: str, data: bytes = b"", *, ephemeral: bool = False, sequential: bool = False
    ) -> str:
        """Creates a node and returns its path, with the number of a sequential node."""
        ...

    async def ensure_path(self, path: str) -> None:
        """Creates the node and its ancestors, without data, if they are missing."""
        ...

    async def get(self, path: str, watch: Watch | None = None) -> tuple[bytes, Stat]:
        """Returns data and stat; raises NoNodeError, without setting the watch, if there is no
        node.
        """
        ...

    async def exists(self, path: str, watch: Watch | None = None) -> Stat | None:
        """Returns the stat or None; the watch is set in either case."""
        ...

    async def set(self, path: str, data: bytes, version: int = ANY_VERSION) -> Stat:
        """Replaces the data if the version is the given one."""
        ...

    async def delete(self, path: str, version: int = ANY_VERSION) -> None: ...

    async def children(self, path: str, watch: Watch | None = None) -> list[str]:
        """Names of the children, sorted."""
        ...

    async def multi(self, ops: Sequence[Op]) -> list[OpResult]:
        """Runs all operations or none; MultiError names the operation that failed."""
        ...

    async def close(self) -> None:
        """Ends the session; its ephemeral nodes are deleted at once."""
        ...


class TreeSession:
    """State of a session, and single writes, for the adapters: each write is a multi of one."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._session_id = 0
        self._listeners: list[SessionListener] = []
        self._request_time = Histogram()

    @property
    def session_id(self) -> int:
        return self._session_id

    @property
    def state(self) -> SessionState:
        return self._state

    @property
    def request_time(self) -> Histogram:
        return self._request_time

    def add_session_listener(self, listener: SessionListener) -> None:
        self._listeners.append(listener)

    async def create(
        self, path: str, data: bytes = b"", *, ephemeral: bool = False, sequential: bool = False
    ) -> str:
        result = await self._single(CreateOp(path, data, ephemeral, sequential))
        assert isinstance(result, str)
        return result

    async def set(self, path: str, data: bytes, version: int = ANY_VERSION) -> Stat:
        result = await self._single(SetOp(path, data, version))
        assert isinstance(result, Stat)
        return result

    async def delete(self, path: str, version: int = ANY_VERSION) -> None:
        await self._single(DeleteOp(path, version))

    async def multi(self, ops: Sequence[Op]) -> list[OpResult]:
        raise NotImplementedError

    async def _single(self, op: Op) -> OpResult:
        try:
            return (await self.multi([op]))[0]
        except MultiError as error:
            raise error.cause from None


def parent_of(path: str) -> str:
    """Returns the path of the parent node.

    >>> parent_of("/brokers/ids"), parent_of("/brokers")
    ('/brokers', '/')
    """
    return path.rpartition("/")[0] or "/"


def name_of(path: str) -> str:
    """Returns the last part of a path.

    >>> name_of("/brokers/ids")
    'ids'
    """
    return path.rpartition("/")[2]


def ancestors_of(path: str) -> list[str]:
    """Returns the path and its ancestors without the root, top first.

    >>> ancestors_of("/a/b")
    ['/a', '/a/b']
    """
    parts = path.strip("/").split("/")
    return ["/" + "/".join(parts[: index + 1]) for index in range(len(parts))]


def check_size(path: str, data: bytes) -> None:
    """Raises NodeTooLargeError for data for which ZooKeeper would close the connection."""
    if len(data) > MAX_NODE_BYTES:
        raise NodeTooLargeError(path)
