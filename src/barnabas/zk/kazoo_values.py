"""kazoo's values in the tree's words: operations, results, errors, states, events. Pure.

Everything kazoo returns, raises or reports passes here and is known to nobody else by kazoo's
names. What it does not do: send, wait or retry; that is `kazoo_tree`'s business.
"""

from collections.abc import Sequence
from typing import Any

from kazoo import exceptions as kazoo_errors
from kazoo.protocol.states import EventType, KazooState

from barnabas.zk.tree import (
    BadVersionError,
    CheckOp,
    ConnectionLossError,
    CreateOp,
    DeleteOp,
    MultiError,
    NoChildrenForEphemeralsError,
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    Op,
    OpResult,
    SessionLostError,
    SessionState,
    SetOp,
    Stat,
    TreeError,
    WatchKind,
)

_ABOUT_A_NODE = {
    kazoo_errors.NoNodeError: NoNodeError,
    kazoo_errors.NodeExistsError: NodeExistsError,
    kazoo_errors.BadVersionError: BadVersionError,
    kazoo_errors.NotEmptyError: NotEmptyError,
    kazoo_errors.NoChildrenForEphemeralsError: NoChildrenForEphemeralsError,
}
_WATCH_KINDS = {
    EventType.CREATED: WatchKind.CREATED,
    EventType.DELETED: WatchKind.DELETED,
    EventType.CHANGED: WatchKind.CHANGED,
    EventType.CHILD: WatchKind.CHILD,
}
_STATES = {
    KazooState.CONNECTED: SessionState.CONNECTED,
    KazooState.SUSPENDED: SessionState.SUSPENDED,
    KazooState.LOST: SessionState.LOST,
}


def add_op(transaction: Any, op: Op) -> None:
    """Put one operation of a multi into kazoo's transaction."""
    match op:
        case CreateOp():
            transaction.create(op.path, op.data, ephemeral=op.ephemeral, sequence=op.sequential)
        case SetOp():
            transaction.set_data(op.path, op.data, op.version)
        case DeleteOp():
            transaction.delete(op.path, op.version)
        case CheckOp():
            transaction.check(op.path, op.version)


def multi_results(ops: Sequence[Op], results: Sequence[Any]) -> list[OpResult]:
    """The results of a transaction; MultiError names the operation it was refused for."""
    for index, (op, result) in enumerate(zip(ops, results, strict=True)):
        if _is_cause(result):
            raise MultiError(index, op, tree_error(result, op.path))
    return [_op_result(result) for result in results]


def tree_error(error: Exception, path: str) -> TreeError:
    """The error to raise for one of kazoo's."""
    about_a_node = _ABOUT_A_NODE.get(type(error))
    if about_a_node is not None:
        return about_a_node(path)
    if isinstance(error, kazoo_errors.SessionExpiredError):
        return SessionLostError(str(error) or "the session has expired")
    if isinstance(error, kazoo_errors.ConnectionLoss | kazoo_errors.OperationTimeoutError):
        return ConnectionLossError(str(error) or "the connection was lost")
    return TreeError(f"{path}: {type(error).__name__} {error}")


def stat_of(stat: Any) -> Stat:
    return Stat(
        stat.czxid,
        stat.mzxid,
        stat.version,
        stat.ephemeralOwner,
        stat.numChildren,
        stat.ctime,
        stat.mtime,
        stat.pzxid,
        stat.cversion,
        stat.aversion,
    )


def session_state(state: str) -> SessionState:
    return _STATES[state]


def watch_kind(event_type: str) -> WatchKind:
    """What an event says; DROPPED for those that only say that the watch is gone."""
    return _WATCH_KINDS.get(event_type, WatchKind.DROPPED)


def _is_cause(result: object) -> bool:
    """In a refused multi, the others are marked as rolled back or never tried."""
    bystander = (kazoo_errors.RolledBackError, kazoo_errors.RuntimeInconsistency)
    return isinstance(result, Exception) and not isinstance(result, bystander)


def _op_result(result: Any) -> OpResult:
    if isinstance(result, str):
        return result
    return None if result is True else stat_of(result)
