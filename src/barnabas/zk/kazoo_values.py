"""Converts operations, results, errors, states and events between kazoo and the port; kazoo's log.

No IO: `kazoo_tree` sends, waits and retries.
"""

import logging
from collections.abc import Sequence
from typing import Any

from kazoo import exceptions as kazoo_errors
from kazoo.protocol.states import EventType, KazooState

from barnabas.runtime.clock import Clock
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


def add_op(transaction: Any, op: Op, acl: Sequence[Any] | None = None) -> None:
    """Adds one operation of a multi to kazoo's transaction; `acl` is that of a new node."""
    match op:
        case CreateOp():
            transaction.create(
                op.path, op.data, acl, ephemeral=op.ephemeral, sequence=op.sequential
            )
        case SetOp():
            transaction.set_data(op.path, op.data, op.version)
        case DeleteOp():
            transaction.delete(op.path, op.version)
        case CheckOp():
            transaction.check(op.path, op.version)


def multi_results(ops: Sequence[Op], results: Sequence[Any]) -> list[OpResult]:
    """Returns the results of a transaction; MultiError names the operation that failed."""
    for index, (op, result) in enumerate(zip(ops, results, strict=True)):
        if _is_cause(result):
            raise MultiError(index, op, tree_error(result, op.path))
    return [_op_result(result) for result in results]


def tree_error(error: Exception, path: str) -> TreeError:
    """Returns the error of the port for an error of kazoo."""
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
    """Returns the kind of an event; DROPPED if it only means that the watch was removed."""
    return _WATCH_KINDS.get(event_type, WatchKind.DROPPED)


def _is_cause(result: object) -> bool:
    """Whether this error caused the failure of a multi; the other operations were rolled back."""
    rolled_back = (kazoo_errors.RolledBackError, kazoo_errors.RuntimeInconsistency)
    return isinstance(result, Exception) and not isinstance(result, rolled_back)


def _op_result(result: object) -> OpResult:
    if isinstance(result, str):
        return result
    return None if result is True else stat_of(result)


# --- log of kazoo --------------------------------------------------------------------------------


# kazoo logs every connection attempt; an outage would fill the log.
REPEAT_MS = 60_000


class KazooLog(logging.LoggerAdapter[logging.Logger]):
    """A logger for one client; called from kazoo's thread."""

    def __init__(self, logger: logging.Logger, hosts: str, clock: Clock) -> None:
        super().__init__(logger, {})
        self.last_problem = ""
        self._hosts = hosts
        self._clock = clock
        self._logged_at: dict[str, int] = {}
        self._closed = False

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        if level < logging.WARNING:
            super().log(level, msg, *args, **kwargs)
            return
        text = str(msg) % args if args else str(msg)
        self.last_problem = text
        if self._closed:
            return
        now, logged_at = self._clock.monotonic_ms(), self._logged_at.get(text)
        if logged_at is None or now - logged_at >= REPEAT_MS:
            self._logged_at[text] = now
            super().log(level, "%s: %s", self._hosts, text, **kwargs)

    def connected(self) -> None:
        """Logs every message again, because the connection was restored."""
        self._logged_at.clear()

    def close(self) -> None:
        """Logs nothing more, because the client is being stopped."""
        self._closed = True
