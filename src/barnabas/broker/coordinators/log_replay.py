"""Reading a coordinator's log from its start, a piece per turn of the loop.

A log of some hundred megabytes takes seconds to replay; the broker goes on serving meanwhile.
"""

import asyncio
from typing import Protocol

from barnabas.model.errors import CorruptRecordError
from barnabas.records.batch import BatchHeader, crc_ok, iter_batches
from barnabas.records.control import ControlType, decode_end_marker
from barnabas.records.reader import iter_raw
from barnabas.replication.ports import ReplicaLog

# A piece of small records is replayed in some tens of milliseconds.
_MAX_SLICE_BYTES = 256 * 1024


class ReplayTarget(Protocol):
    """Takes the log's records in order."""

    def replay(self, key: bytes, value: bytes | None, producer_id: int) -> None:
        """One record; `producer_id` is -1 outside of transactions."""
        ...

    def replay_marker(self, producer_id: int, *, commit: bool) -> None:
        """The end of a producer's transaction."""
        ...


async def replay_log(log: ReplicaLog, target: ReplayTarget, buffer_bytes: int) -> None:
    """Feed everything that is in `log` now; what a load misses was written after it began."""
    end_offset = log.log_end_offset
    offset = log.log_start_offset
    size = min(buffer_bytes, _MAX_SLICE_BYTES)
    while offset < end_offset:
        read = log.read(offset, size, max_offset=end_offset, min_one_batch=True)
        if read.slice is None:
            return  # nothing but a gap left by compaction up to the end
        data = read.slice.read()
        read.slice.release()
        for position, header in iter_batches(data):
            if not crc_ok(data, position, header):
                raise CorruptRecordError(f"bad checksum at offset {header.base_offset}")
            _replay_batch(data, position, header, target)
        offset = read.next_offset
        await asyncio.sleep(0)


def _replay_batch(data: bytes, position: int, header: BatchHeader, target: ReplayTarget) -> None:
    records = iter_raw(data, position, header)
    if header.is_control:
        for record in records:
            marker = decode_end_marker(record.key, record.value)
            if marker is not None:
                commit = marker.type is ControlType.COMMIT
                target.replay_marker(header.producer_id, commit=commit)
        return
    producer_id = header.producer_id if header.is_transactional else -1
    for record in records:
        if record.key is not None:
            target.replay(record.key, record.value, producer_id)
