"""A compacted log beside a model of it: every record ever written, and what readers may see."""

from typing import Any

from support.storage.log_world import World, append, batch_of, committed, contents, end_txn, put

from barnabas.records.batch import iter_batches

DELETE_RETENTION_MS = 1000
CONFIG = {
    "cleanup.policy": "compact",
    "segment.bytes": "400",
    "index.interval.bytes": "100",
    "file.delete.delay.ms": "0",
    "delete.retention.ms": str(DELETE_RETENTION_MS),
}
PRODUCERS = range(1, 4)


class CompactionModel:
    """Operations on the log, mirrored; `check` compares after any of them."""

    def __init__(self) -> None:
        self.world = World(**CONFIG)
        self.history: dict[int, tuple[bytes, bytes | None]] = {}
        self.aborted: set[int] = set()
        self.sequences = dict.fromkeys(PRODUCERS, 0)
        self.open: dict[int, list[int]] = {}
        self.cleaned_at: dict[int, int] = {}
        """When a pass first went over a tombstone."""

    # Operations

    def put(self, records: list[tuple[bytes, bytes | None]]) -> None:
        info = put(self.world.log, *records)
        self._note(info.first_offset, records)

    def put_as(self, producer_id: int, records: list[tuple[bytes, bytes | None]]) -> None:
        """Write as an idempotent producer, in a transaction if it has begun one."""
        batch = batch_of(
            records,
            producer_id=producer_id,
            producer_epoch=0,
            base_sequence=self.sequences[producer_id],
            transactional=producer_id in self.open,
        )
        info = append(self.world.log, batch)
        assert not info.duplicate
        self.sequences[producer_id] += len(records)
        offsets = self._note(info.first_offset, records)
        if producer_id in self.open:
            self.open[producer_id] += offsets

    def begin(self, producer_id: int) -> None:
        self.open.setdefault(producer_id, [])

    def end(self, producer_id: int, commit: bool) -> None:
        offsets = self.open.pop(producer_id, None)
        if offsets:
            end_txn(self.world.log, producer_id, commit=commit)
            if not commit:
                self.aborted.update(offsets)

    def roll(self) -> None:
        self.world.log.roll()

    def replicate(self) -> None:
        self.world.commit_all()

    def advance(self, ms: int) -> None:
        self.world.clock.advance(ms)

    def clean(self) -> None:
        now = self.world.clock.now_ms()
        if self.world.manager.maintenance.clean(now, force=True):
            for offset, (_, value) in self.history.items():
                if value is None and offset < self.world.log.cleaned_offset:
                    self.cleaned_at.setdefault(offset, now)
        assert not self.world.manager.maintenance.cleaning.uncleanable
        self.world.manager.maintenance.purge_deleted()

    def restart(self) -> None:
        self.world.restart()

    def kill(self) -> None:
        self.world.kill()
        # The checkpoint of the high watermark lags behind; replicas bring it up again.
        self.replicate()

    # Comparison

    def check(self) -> None:
        log = self.world.log
        found = contents(log)
        for offset, key, value in found:
            assert self.history[offset] == (key, value), "a record changed or moved"
        if log.high_watermark == log.log_end_offset:
            begun = [offsets[0] for offsets in self.open.values() if offsets]
            assert log.last_stable_offset == min(begun, default=log.high_watermark)
        self._check_committed(log)
        self._check_tombstones({offset for offset, _, _ in found})
        for producer_id, sequence in self.sequences.items():
            entry = log.producers.entries.get(producer_id)
            if sequence:
                assert entry is not None
                assert entry.last_sequence == sequence - 1

    def check_reads(self) -> None:
        """From every offset: the batch that holds it or the next one, whole, within bounds."""
        log = self.world.log
        data = b"".join(
            segment.open_file().pread(segment.size, 0) for segment in log.local.segments
        )
        spans = [(header.base_offset, header.last_offset) for _, header in iter_batches(data)]
        for bound in {log.log_end_offset, log.high_watermark, log.last_stable_offset}:
            for offset in range(log.log_start_offset, log.log_end_offset + 1):
                visible = [s for s in spans if s[1] >= offset and s[1] < bound]
                got = log.read(offset, 1, max_offset=bound)
                if not visible:
                    assert got.slice is None
                    continue
                headers = [header for _, header in iter_batches(got.slice.read())]
                assert [(h.base_offset, h.last_offset) for h in headers] == visible[:1]
                assert got.first_batch_base_offset == visible[0][0]
                more = log.read(offset, 10**6, max_offset=bound).slice.read()
                got_spans = [(h.base_offset, h.last_offset) for _, h in iter_batches(more)]
                assert got_spans == visible[: len(got_spans)]

    def _check_committed(self, log: Any) -> None:
        stable = log.last_stable_offset
        seen = committed(log)
        assert not self.aborted & {offset for offset, _, _ in seen}, "aborted data is visible"
        newest: dict[bytes, bytes | None] = {}
        for offset in sorted(self.history):
            if offset < stable and offset not in self.aborted:
                key, value = self.history[offset]
                newest[key] = value
        found = {key: value for _, key, value in seen}
        for key, value in newest.items():
            assert found.get(key) == value, f"the newest value of {key!r} is missing"
        assert set(found) <= set(newest)

    def _check_tombstones(self, present: set[int]) -> None:
        newest = {
            key: offset
            for offset, (key, _) in sorted(self.history.items())
            if offset not in self.aborted
        }
        for offset in newest.values():
            if self.history[offset][1] is not None or offset in present:
                continue
            assert offset in self.cleaned_at, "a tombstone went before any pass saw it"
            waited = self.world.clock.now_ms() - self.cleaned_at[offset]
            assert waited >= DELETE_RETENTION_MS, "a tombstone went before its time"

    def _note(self, first: int, records: list[tuple[bytes, bytes | None]]) -> list[int]:
        offsets = list(range(first, first + len(records)))
        self.history.update(zip(offsets, records, strict=True))
        return offsets
