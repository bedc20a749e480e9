"""Cleaning for a whole broker: choose the dirtiest log, run the pass, put the result in place.

One pass at a time. A log whose pass fails is set aside until restart and the others go on: a
cleaner that dies of one bad log lets every disk fill up (KAFKA-5413, KAFKA-7215).
"""

import logging
from collections.abc import Iterable

from barnabas.model.errors import CorruptRecordError
from barnabas.model.ids import TopicPartition
from barnabas.storage.compaction.candidates import Candidate, candidate, make_plan
from barnabas.storage.compaction.cleaner import CleanPlan, CleanResult, clean, discard
from barnabas.storage.compaction.offset_map import ENTRY_BYTES
from barnabas.storage.errors import is_passing
from barnabas.storage.log import Log

_log = logging.getLogger(__name__)

_BACK_OFF_MS = 15_000
DEFAULT_DEDUPE_BUFFER_BYTES = 128 * 1024 * 1024


class CleanTask:
    """A planned pass: `run` it on any thread, then give it back to `Cleaning.finish`."""

    __slots__ = ("error", "log", "plan", "result")

    def __init__(self, log: Log, plan: CleanPlan) -> None:
        self.log = log
        self.plan = plan
        self.result: CleanResult | None = None
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self.result = clean(self.plan)
        except Exception as error:  # noqa: BLE001 - whatever a bad log does, it stays its own matter
            self.error = error


class Cleaning:
    """Loop-owned."""

    def __init__(self, dedupe_buffer_bytes: int = DEFAULT_DEDUPE_BUFFER_BYTES) -> None:
        self.set_dedupe_buffer(dedupe_buffer_bytes)
        self.uncleanable: set[TopicPartition] = set()
        self._put_off: dict[TopicPartition, int] = {}
        self._running: CleanTask | None = None

    def set_dedupe_buffer(self, dedupe_buffer_bytes: int) -> None:
        """Memory for the keys of a pass, from the next one on."""
        self._map_capacity = max(dedupe_buffer_bytes // ENTRY_BYTES, 1)

    def begin(self, logs: Iterable[Log], now_ms: int, *, force: bool = False) -> CleanTask | None:
        """Plan a pass over the dirtiest of these logs that asks for one."""
        if self._running is not None:
            return None
        best: Candidate | None = None
        for log in logs:
            found = self._candidate(log, now_ms)
            if found is None:
                continue
            due = force or found.overdue
            if not due and found.dirty_ratio < log.config.min_cleanable_dirty_ratio:
                continue
            if best is None or _urgency(found) > _urgency(best):
                best = found
        if best is None:
            return None
        plan = make_plan(best, now_ms, self._map_capacity)
        self._running = CleanTask(best.log, plan)
        return self._running

    def _candidate(self, log: Log, now_ms: int) -> Candidate | None:
        if not log.config.compact or log.health.failed:
            return None
        if log.topic_partition in self.uncleanable:
            return None
        if now_ms < self._put_off.get(log.topic_partition, now_ms):
            return None
        try:
            return candidate(log, now_ms)
        except (OSError, CorruptRecordError) as error:
            self._set_aside(log, error)
            return None

    def finish(self, task: CleanTask) -> bool:
        """Put a finished pass in place; False when it came to nothing."""
        self._running = None
        self._put_off.pop(task.log.topic_partition, None)
        if task.error is not None:
            self._failed(task, task.error)
            return False
        if task.result is None:
            return False
        if not task.log.replace_segments(task.result):
            self._try_later(task)
            discard(task.result)
            return False
        task.log.cleaned_offset = task.result.end_offset
        return True

    def abandon(self, task: CleanTask) -> None:
        """The log is gone, and its directory with all the pass wrote."""
        if self._running is task:
            self._running = None

    def _failed(self, task: CleanTask, error: Exception) -> None:
        if isinstance(error, OSError) and is_passing(error):
            _log.warning("cleaning %s is put off: %s", task.log.topic_partition, error)
            self._try_later(task)
        else:
            self._set_aside(task.log, error)

    def _try_later(self, task: CleanTask) -> None:
        self._put_off[task.log.topic_partition] = task.plan.now_ms + _BACK_OFF_MS

    def _set_aside(self, log: Log, error: Exception) -> None:
        self.uncleanable.add(log.topic_partition)
        _log.error("%s is not cleaned any more: %s", log.topic_partition, error)


def _urgency(found: Candidate) -> tuple[bool, float]:
    return found.overdue, found.dirty_ratio
