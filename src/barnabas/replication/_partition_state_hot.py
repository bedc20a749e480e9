"""The state of a partition that each append and read uses.

The base of `Partition`, which defines what the fields mean and their exact types. Compiled by
Cython it is a C struct (`_partition_state_hot.pxd`), whose fields `_leader_append_hot` reads with
one instruction each. It also runs as plain Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

if TYPE_CHECKING:
    from barnabas.replication.isr import LeaderState
    from barnabas.replication.ports import ReplicaLog

COMPILED: bool = cython.compiled


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
        settings: object,
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
