"""Nodes in memory and staged writes: the rules of the tree, without IO.

A write is applied to a `StagedTree`, an overlay that contains only changes. The base does not
change until the overlay is merged, so a rejected multi has no effect and a batch of writes is
durable before it is visible. Overlays are nested: a multi on a batch on the base.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from barnabas.zk.tree import (
    ANY_VERSION,
    BadVersionError,
    CheckOp,
    CreateOp,
    DeleteOp,
    MultiError,
    NoChildrenForEphemeralsError,
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    Op,
    OpResult,
    SetOp,
    Stat,
    TreeError,
    WatchKind,
    check_size,
    name_of,
    parent_of,
)

PERSISTENT = 0
"""The owner of a node that no session owns."""


class StoredNode(NamedTuple):
    """One node. `created` counts the children ever created: the next sequential number."""

    data: bytes
    czxid: int
    mzxid: int
    version: int
    created: int
    owner: int
    num_children: int
    ctime_ms: int
    mtime_ms: int

    def stat(self) -> Stat:
        return Stat(
            self.czxid,
            self.mzxid,
            self.version,
            self.owner,
            self.num_children,
            self.ctime_ms,
            self.mtime_ms,
            cversion=2 * self.created - self.num_children,
        )


ROOT = StoredNode(b"", 0, 0, 0, 0, PERSISTENT, 0, 0, 0)


class Nodes(Protocol):
    """Anything that finds a node by path."""

    def lookup(self, path: str) -> StoredNode | None: ...


class ChangeOrigin(NamedTuple):
    """The session that writes, and the transaction number and time of the write."""

    session_id: int
    zxid: int
    now_ms: int


class NodeStore:
    """The committed nodes, indexed by parent and by owner. Owned by one loop."""

    def __init__(self) -> None:
        self._nodes: dict[str, StoredNode] = {"/": ROOT}
        self._children: dict[str, set[str]] = {"/": set()}
        self._owned: dict[int, set[str]] = {}

    def lookup(self, path: str) -> StoredNode | None:
        return self._nodes.get(path)

    def children(self, path: str) -> list[str]:
        return sorted(self._children[path])

    def owned_by(self, session_id: int) -> list[str]:
        """Paths of a session's ephemeral nodes."""
        return sorted(self._owned.get(session_id, ()))

    def put(self, path: str, node: StoredNode) -> None:
        if path not in self._nodes:
            self._children[path] = set()
            if path != "/":
                self._children[parent_of(path)].add(name_of(path))
        if node.owner != PERSISTENT:
            self._owned.setdefault(node.owner, set()).add(path)
        self._nodes[path] = node

    def remove(self, path: str) -> None:
        node = self._nodes.pop(path, None)
        if node is None:
            return
        del self._children[path]
        self._children[parent_of(path)].discard(name_of(path))
        if node.owner != PERSISTENT:
            self._owned[node.owner].discard(path)

    def load(self, rows: Iterator[tuple[str, StoredNode]]) -> None:
        """Fills an empty store from rows in path order; parents precede their children."""
        for path, node in rows:
            self.put(path, node)
        for path, names in self._children.items():
            self._nodes[path] = self._nodes[path]._replace(num_children=len(names))


class StagedTree:
    """Changes on top of `base`, not yet visible there.

    `changes` maps a path to its new node, or None if it is deleted; `durable` are the paths that
    must be written to the disk. Ephemeral nodes are not written, because no session outlives the
    process.
    """

    def __init__(self, base: Nodes) -> None:
        self._base = base
        self.changes: dict[str, StoredNode | None] = {}
        self.durable: set[str] = set()
        self.events: list[tuple[WatchKind, str]] = []

    def lookup(self, path: str) -> StoredNode | None:
        if path in self.changes:
            return self.changes[path]
        return self._base.lookup(path)

    def multi(self, ops: Sequence[Op], origin: ChangeOrigin) -> Iterator[OpResult]:
        """Stages all operations or none; yields the result of each.

        The operations are staged when the iteration ends; a long multi is staged in slices.
        """
        attempt = StagedTree(self)
        for index, op in enumerate(ops):
            try:
                result = attempt._apply(op, origin)
            except TreeError as error:
                raise MultiError(index, op, error) from error
            yield result
        self._take(attempt)

    def end_session(self, paths: Sequence[str], origin: ChangeOrigin) -> None:
        """Stages the removal of a session's ephemeral nodes."""
        for path in paths:
            self._delete(DeleteOp(path), origin)

    def commit_to(self, store: NodeStore) -> None:
        """Makes the changes visible: deletes children before parents, creates them after
        parents.
        """
        for path in sorted(self.changes, reverse=True):
            if self.changes[path] is None:
                store.remove(path)
        for path in sorted(self.changes):
            node = self.changes[path]
            if node is not None:
                store.put(path, node)

    def _take(self, other: "StagedTree") -> None:
        self.changes.update(other.changes)
        self.durable |= other.durable
        self.events += other.events

    def _apply(self, op: Op, origin: ChangeOrigin) -> OpResult:
        match op:
            case CreateOp():
                return self._create(op, origin)
            case SetOp():
                return self._set(op, origin)
            case DeleteOp():
                self._delete(op, origin)
            case CheckOp():
                _check_version(op.path, self._existing(op.path), op.version)
        return None

    def _create(self, op: CreateOp, origin: ChangeOrigin) -> str:
        check_size(op.path, op.data)
        parent_path = parent_of(op.path)
        parent = self.lookup(parent_path)
        if parent is None:
            raise NoNodeError(op.path)
        if parent.owner != PERSISTENT:
            raise NoChildrenForEphemeralsError(op.path)
        path = f"{op.path}{parent.created:010d}" if op.sequential else op.path
        if self.lookup(path) is not None:
            raise NodeExistsError(path)
        owner = origin.session_id if op.ephemeral else PERSISTENT
        zxid, now_ms = origin.zxid, origin.now_ms
        self._put(path, StoredNode(op.data, zxid, zxid, 0, 0, owner, 0, now_ms, now_ms))
        self._put_parent(parent_path, parent, 1, durable=owner == PERSISTENT)
        self.events += ((WatchKind.CREATED, path), (WatchKind.CHILD, parent_path))
        return path

    def _set(self, op: SetOp, origin: ChangeOrigin) -> Stat:
        check_size(op.path, op.data)
        node = self._existing(op.path)
        _check_version(op.path, node, op.version)
        changed = node._replace(
            data=op.data, mzxid=origin.zxid, version=node.version + 1, mtime_ms=origin.now_ms
        )
        self._put(op.path, changed)
        self.events.append((WatchKind.CHANGED, op.path))
        return changed.stat()

    def _delete(self, op: DeleteOp, origin: ChangeOrigin) -> None:
        node = self._existing(op.path)
        _check_version(op.path, node, op.version)
        if node.num_children or op.path == "/":
            raise NotEmptyError(op.path)
        self.changes[op.path] = None
        if node.owner == PERSISTENT:
            self.durable.add(op.path)
        parent_path = parent_of(op.path)
        self._put_parent(parent_path, self._existing(parent_path), -1, durable=False)
        self.events += ((WatchKind.DELETED, op.path), (WatchKind.CHILD, parent_path))

    def _put(self, path: str, node: StoredNode) -> None:
        self.changes[path] = node
        if node.owner == PERSISTENT:
            self.durable.add(path)

    def _put_parent(self, path: str, parent: StoredNode, difference: int, *, durable: bool) -> None:
        # The number of children is computed on loading. Only the sequence counter is written, and
        # only if a persistent node used a number.
        self.changes[path] = parent._replace(
            num_children=parent.num_children + difference,
            created=parent.created + max(difference, 0),
        )
        if durable:
            self.durable.add(path)

    def _existing(self, path: str) -> StoredNode:
        node = self.lookup(path)
        if node is None:
            raise NoNodeError(path)
        return node


def _check_version(path: str, node: StoredNode, version: int) -> None:
    if version not in (ANY_VERSION, node.version):
        raise BadVersionError(path)
