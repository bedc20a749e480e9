"""A log on a file system in memory, and the handles a test of storage needs."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from barnabas.model.ids import TopicPartition, Uuid
from barnabas.records.batch import iter_batches, parse_header
from barnabas.records.builder import BatchBuilder, control_batch
from barnabas.records.reader import iter_raw
from barnabas.storage import AppendInfo, AppendOrigin, FileSystem, Log, LogConfig, LogManager
from barnabas.storage.log_dirs import DirHealth
from barnabas.storage.recovery import OpenParams, open_log
from barnabas.testing.memory_fs import MemoryFileSystem
from barnabas.testing.virtual_clock import VirtualClock

ROOT = Path("/data")
TP = TopicPartition("t", 0)
TOPIC_ID = Uuid(bytes(range(16)))
LOG_DIR = ROOT / "t-0"
NOW = 1_700_000_000_000

Seen = tuple[int, bytes | None, bytes | None]


def batch_of(
    records: Iterable[tuple[bytes | None, bytes | None]], *, timestamp_ms: int = NOW, **options: Any
) -> bytearray:
    builder = BatchBuilder(**options)
    for key, value in records:
        builder.append(key, value, timestamp_ms=timestamp_ms)
    return builder.build()


def append(log: Log, batch: bytearray, *, epoch: int = 0, now_ms: int = NOW) -> AppendInfo:
    header = parse_header(batch)
    origin = AppendOrigin.COORDINATOR if header.is_control else AppendOrigin.CLIENT
    return log.append_as_leader(batch, header, leader_epoch=epoch, now_ms=now_ms, origin=origin)


def put(log: Log, *records: tuple[bytes | None, bytes | None], **options: Any) -> AppendInfo:
    epoch = options.pop("epoch", 0)
    return append(log, batch_of(records, **options), epoch=epoch)


def end_txn(
    log: Log, producer_id: int, *, commit: bool, producer_epoch: int = 0, timestamp_ms: int = NOW
) -> AppendInfo:
    return append(log, control_batch(commit, 0, producer_id, producer_epoch, timestamp_ms))


def records_in(data: bytes) -> list[Seen]:
    """Every record of a piece of log, those of control batches left out."""
    return [
        (record.offset, record.key, record.value)
        for position, header in iter_batches(data)
        if not header.is_control
        for record in iter_raw(data, position, header)
    ]


def raw(log: Log, *, start: int | None = None, end: int | None = None) -> bytes:
    """The bytes a reader of [start, end) is served."""
    offset = log.log_start_offset if start is None else start
    bound = log.log_end_offset if end is None else end
    pieces = []
    while True:
        found = log.read(offset, 1000, max_offset=bound)
        if found.slice is None:
            return b"".join(pieces)
        pieces.append(found.slice.read())
        offset = found.next_offset


def contents(log: Log, *, start: int | None = None, end: int | None = None) -> list[Seen]:
    return records_in(raw(log, start=start, end=end))


def committed(log: Log) -> list[Seen]:
    """Returns the records for a read_committed consumer, by the aborted transactions of the log."""
    data = raw(log, end=log.last_stable_offset)
    upcoming = log.aborted_transactions(log.log_start_offset, log.last_stable_offset)
    aborted: set[int] = set()
    seen: list[Seen] = []
    for position, header in iter_batches(data):
        while upcoming and upcoming[0].first_offset <= header.last_offset:
            aborted.add(upcoming.pop(0).producer_id)
        if header.is_control:
            aborted.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in aborted):
            seen += records_in(data[position : position + header.size])
    return seen


def open_at(fs: FileSystem, directory: Path = LOG_DIR, **params: Any) -> Log:
    """Open one log directory without a manager."""
    params.setdefault("config", LogConfig.from_values())
    params.setdefault("now_ms", NOW)
    found = OpenParams(directory, TP, TOPIC_ID, **params)
    return open_log(fs, found, DirHealth(directory.parent))


def snapshot(log: Log) -> dict[str, Any]:
    """Everything a log derives from its bytes, to compare two ways of getting there."""
    segments = list(log.local.segments)
    return {
        "end": log.log_end_offset,
        "bases": [segment.base_offset for segment in segments],
        "offsets": [_entries(segment.offsets.entries) for segment in segments],
        "times": [_entries(segment.times.entries) for segment in segments],
        "largest": [segment.largest_timestamp() for segment in segments],
        "aborted": [list(segment.aborted.entries) for segment in segments],
        "epochs": list(log.epochs.entries),
        "producers": {
            entry.producer_id: (
                entry.epoch,
                entry.batches,
                entry.txn_first_offset,
                entry.coordinator_epoch,
            )
            for entry in log.producers
        },
    }


def _entries(entries: Any) -> list[bytes]:
    return [entries.entry(number) for number in range(entries.count)]


class World:
    """A manager over one directory in memory, and ways to stop and start it."""

    roots = (ROOT,)

    def __init__(self, fs: MemoryFileSystem | None = None, **config: Any) -> None:
        self.fs = fs or MemoryFileSystem()
        self.clock = VirtualClock(NOW)
        self.config = LogConfig.from_values(config)
        self.manager = self.begin()

    def begin(self) -> LogManager:
        self.manager = LogManager(
            self.fs, self.roots, self.clock, config_for=lambda topic: self.config
        )
        self.manager.start()
        return self.manager

    @property
    def log(self) -> Log:
        return self.manager.get_or_create(TP, TOPIC_ID, self.config)

    def commit_all(self) -> None:
        """Pretend that every replica has everything."""
        self.log.update_high_watermark(self.log.log_end_offset)

    def stop(self) -> None:
        self.manager.shutdown()

    def restart(self) -> Log:
        """Stop in order and start again."""
        self.stop()
        self.begin()
        return self.log

    def kill(self, power_loss: Any = None) -> Log:
        """Die and start again."""
        self.fs.restart(power_loss=power_loss)
        self.begin()
        return self.log
