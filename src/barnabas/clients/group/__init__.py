"""The consumer: assigned partitions or a group's share of topics, in records or Arrow batches."""

from barnabas.clients.core.apis.list_offsets import OffsetAndTimestamp
from barnabas.clients.group.consumer import Consumer
from barnabas.clients.group.database import DatabaseSink, FencedError
from barnabas.clients.group.decoding import DeserializationError
from barnabas.clients.group.errors import (
    CommitFailedError,
    ConcurrentUseError,
    LogTruncationError,
    NoOffsetError,
    OffsetOutOfRangeError,
    WakeupError,
)
from barnabas.clients.group.failures import ProcessingError

__all__ = [
    "CommitFailedError",
    "ConcurrentUseError",
    "Consumer",
    "DatabaseSink",
    "DeserializationError",
    "FencedError",
    "LogTruncationError",
    "NoOffsetError",
    "OffsetAndTimestamp",
    "OffsetOutOfRangeError",
    "ProcessingError",
    "WakeupError",
]
