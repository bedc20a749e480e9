"""Reading a coordinator's log from its start, a piece per turn of the loop.

A log of some hundred megabytes takes seconds to replay; the broker goes on serving meanwhile.
Most records of such a log are soon superseded: a group commits the same few offsets every few
seconds. So the newest record of each key is looked for first, over a stretch of the log, and only
those are decoded and applied, in the order of their offsets. That is what compaction would have
left of the stretch, and coordinators must be able to live with it anyway. A stretch ends at every
transactional batch and every marker, whose place among the others counts.
"""

import asyncio
from typing import Protocol

from barnabas.model.errors import CorruptRecordError
from barnabas.records.batch import BatchHeader, crc_ok, iter_batches
from barnabas.records.control import ControlType, decode_end_marker
from barnabas.records.reader import iter_raw
from barnabas.replication.ports import ReplicaLog

# What is worked on in one turn of the loop: some ten milliseconds.
_MAX_SLICE_BYTES = 256 * 1024
_APPLIED_PER_TURN = 1000
_MAX_STRETCH = 200_000


class ReplayTarget(Protocol):
    """Takes the log's records in order."""

    def replay(self, key: bytes, value: bytes | None, producer_id: int) -> None:
        """One record; `producer_id` is -1 outside of transactions."""
        ...

    def replay_marker(self, producer_id: int, *, commit: bool) -> None:
        """The end of a producer's transaction."""
        ...


class ReplaySource(Protocol):
    """A partition; its log may be another one, with the same records, after any wait."""

    @property
    def log(self) -> ReplicaLog: ...


async def replay_log(source: ReplaySource, target: ReplayTarget, buffer_bytes: int) -> None:
    """Feed everything that is in the log now; what a load misses was written after it began."""
    end_offset = source.log.log_end_offset
    offset = source.log.log_start_offset
    size = min(buffer_bytes, _MAX_SLICE_BYTES)
    replay = _Replay(target)
    while offset < end_offset:
        read = source.log.read(offset, size, max_offset=end_offset, min_one_batch=True)
        if read.slice is None:
            break  # nothing but a gap left by compaction up to the end
        data = read.slice.read()
        read.slice.release()
        await replay.take(data)
        offset = read.next_offset
        await asyncio.sleep(0)
    await replay.apply()


class _Replay:
    """One load: the newest records of the current section of the log, by key."""

    def __init__(self, target: ReplayTarget) -> None:
        self._target = target
        self._newest: dict[bytes, bytes | None] = {}

    async def take(self, data: bytes) -> None:
        for position, header in iter_batches(data):
            if not crc_ok(data, position, header):
                raise CorruptRecordError(f"bad checksum at offset {header.base_offset}")
            if header.is_control or header.is_transactional:
                await self.apply()
                self._take_transactional(data, position, header)
            else:
                self._take_plain(data, position, header)
        if len(self._newest) > _MAX_STRETCH:
            await self.apply()

    async def apply(self) -> None:
        """Hand the stretch over; it is empty afterwards."""
        newest, self._newest = self._newest, {}
        for count, (key, value) in enumerate(newest.items(), start=1):
            self._target.replay(key, value, -1)
            if count % _APPLIED_PER_TURN == 0:
                await asyncio.sleep(0)

    def _take_plain(self, data: bytes, position: int, header: BatchHeader) -> None:
        newest = self._newest
        for record in iter_raw(data, position, header):
            if record.key is not None:
                newest.pop(record.key, None)  # so that it moves to the end
                newest[record.key] = record.value

    def _take_transactional(self, data: bytes, position: int, header: BatchHeader) -> None:
        for record in iter_raw(data, position, header):
            if not header.is_control and record.key is not None:
                self._target.replay(record.key, record.value, header.producer_id)
            elif header.is_control:
                marker = decode_end_marker(record.key, record.value)
                if marker is not None:
                    commit = marker.type is ControlType.COMMIT
                    self._target.replay_marker(header.producer_id, commit=commit)
