"""The state of a log that each append and read uses.

The classes are bases of `Segment`, `LogReader`, `LocalLog`, `LogFlusher` and `Log`. Compiled by
Cython they are C structs (`_log_state_hot.pxd`): `_log_short_paths_hot` reads a field of theirs
with one instruction, where an attribute of a Python object takes about a hundred. The subclasses
define what the fields mean and their exact types. It also runs as plain Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

if TYPE_CHECKING:
    from barnabas.storage.filesystem import File
    from barnabas.storage.indexes import OffsetIndex, TimeIndex, TimestampOffset
    from barnabas.storage.leader_epochs import LeaderEpochs
    from barnabas.storage.log_config import LogConfig
    from barnabas.storage.log_dirs import DirHealth
    from barnabas.storage.producer_state import ProducerStates

COMPILED: bool = cython.compiled


@cython.cclass
class SegmentState:
    """Size, times and indexes of a segment."""

    __slots__ = (
        "_bytes_since_index",
        "_file",
        "_largest",
        "base_offset",
        "created_ms",
        "first_timestamp",
        "index_interval",
        "offsets",
        "size",
        "times",
        "used",
    )

    def __init__(
        self, base_offset: int, index_interval: int, offsets: OffsetIndex, times: TimeIndex
    ) -> None:
        self.base_offset = base_offset
        self.index_interval = index_interval
        self.offsets = offsets
        self.times = times
        self._file: File | None = None
        self._largest: TimestampOffset | None = None
        self._bytes_since_index = 0
        self.size = 0
        self.created_ms = 0
        self.first_timestamp = -1
        self.used = False


@cython.cclass
class ReaderState:
    """Positions that a reader remembers."""

    __slots__ = ("_end_offset", "_end_segment", "_positions")

    def __init__(self) -> None:
        self._positions: dict = {}
        self._end_offset = -1
        """Log end offset after the latest append; -1 without one."""
        self._end_segment: SegmentState | None = None


@cython.cclass
class LocalState:
    """The active segment and the end of a log."""

    __slots__ = ("active", "config", "jitter_ms", "log_end_offset", "reader")

    def __init__(self, active: SegmentState, config: LogConfig, reader: ReaderState) -> None:
        self.active = active
        self.config = config
        self.reader = reader
        self.log_end_offset = 0
        self.jitter_ms = 0


@cython.cclass
class FlusherState:
    """Counts records that are not flushed yet."""

    __slots__ = ("closed", "rolled", "unflushed_records")

    def __init__(self) -> None:
        self.closed = False
        self.rolled = False
        """Whether a sealed segment is not flushed yet; recovery would have to verify it."""
        self.unflushed_records = 0


@cython.cclass
class LogState:
    """The parts of a log and its watermarks."""

    # No __slots__: `Log` has a __dict__.

    def __init__(  # noqa: PLR0913 - the parts of a log
        self,
        local: LocalState,
        flusher: FlusherState,
        epochs: LeaderEpochs,
        health: DirHealth,
        producers: ProducerStates,
        log_start_offset: int,
        high_watermark: int,
    ) -> None:
        self.local = local
        self._flusher = flusher
        self.epochs = epochs
        self.health = health
        self.producers = producers
        self.log_start_offset = log_start_offset
        self.high_watermark = high_watermark
        self._modified = False
        """Whether a clean shutdown must write anything for this log."""
        self._changed: list = []
        self._listed = True
        """Whether `_changed` has this log already; also while no job reads the list."""


def note_change(log: LogState) -> cython.void:
    """Adds the log to the list of changed logs, once until the list is read."""
    if not log._listed:
        log._listed = True
        log._changed.append(log)


def flush_due(log: LogState) -> cython.bint:
    """Whether `flush.messages` is reached or a sealed segment is not flushed yet."""
    flusher: FlusherState = log._flusher
    return flusher.rolled or flusher.unflushed_records >= log.local.config.flush_messages
