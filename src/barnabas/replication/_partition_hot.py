"""The state of a partition that each append and read uses, and the short path of an append.

`PartitionFields` is the base of `Partition`, which defines what the fields mean and their exact
types. Compiled by Cython it is a C struct (`_partition_hot.pxd`), whose fields compiled modules
read with one instruction each.

`append_alone` is the common case of `Partition.append_to_leader`: no followers, so the high
watermark moves with the append, and no fsync before the acknowledgement. In every other case it
returns -1 and has changed nothing; the caller then uses `append_to_leader`.

Compiled by Cython as it stands; works uncompiled too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.storage.log import Log

if cython.compiled:
    from cython.cimports.barnabas.records._batch_header_hot import BatchHeader
    from cython.cimports.barnabas.storage._log_short_paths_hot import append_single
    from cython.cimports.barnabas.storage._log_state_hot import LogState
else:
    from barnabas.records._batch_header_hot import BatchHeader
    from barnabas.storage._log_short_paths_hot import append_single
    from barnabas.storage._log_state_hot import LogState

if TYPE_CHECKING:
    from barnabas.replication.isr import LeaderState
    from barnabas.replication.ports import ReplicaLog

COMPILED: bool = cython.compiled
_ALL_IN_SYNC = cython.declare(cython.int, -1)


@cython.cclass
class PartitionFields:
    """Log and role of a replica."""

    __slots__ = (
        "_listeners",
        "configured_min_insync",
        "is_leader",
        "leader_epoch",
        "leading",
        "log",
        "settings",
    )

    def __init__(
        self,
        log: ReplicaLog,
        settings: Any,
        configured_min_insync: int,
        leader_epoch: int,
    ) -> None:
        self.log = log
        self.settings = settings
        self.configured_min_insync = configured_min_insync
        self.leader_epoch = leader_epoch
        self.is_leader = False
        self.leading: LeaderState | None = None
        self._listeners: list = []


def append_alone(
    partition: PartitionFields,
    batch: Any,
    header: BatchHeader,
    acks: cython.int,
    now_ms: cython.longlong,
) -> cython.longlong:
    """Appends a validated batch of a client, which is then acknowledged; returns its first offset.

    Returns -1 if it is not the common case. Raises BrokerError if the write fails, or if a listener
    cannot flush the log.
    """
    leading = partition.leading
    if leading is None or leading.followers or type(partition.log) is not Log:
        return -1
    log: LogState = partition.log
    if partition.settings.request_flush is not None:
        return -1
    # A configured minimum above one may be more than the partition has: leave it to the caller.
    if acks == _ALL_IN_SYNC and len(leading.isr.committed) < partition.configured_min_insync:
        return -1
    first: cython.longlong = append_single(log, batch, header, partition.leader_epoch, now_ms)
    if first < 0:
        return -1
    end: cython.longlong = log.local.log_end_offset
    if end > log.high_watermark:
        log.high_watermark = end
        if log.producers._unreplicated:
            log.producers.on_high_watermark(end)
        for listener in partition._listeners:
            listener.on_high_watermark(partition)
    for listener in partition._listeners:
        listener.on_append(partition)
    if partition.leading is not leading or log.high_watermark < end:
        # A listener could not flush the log, and the replica was stopped.
        raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    return first
