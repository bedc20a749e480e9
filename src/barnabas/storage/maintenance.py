"""The periodic work on a broker's logs: retention, unlinking, flushing, compaction.

Plain methods for the broker's scheduler to call; none of them waits. What takes long comes in three
steps: begun on the loop, run on a thread, finished on the loop. The failure of one log does not
keep the others from theirs.
"""

import logging
from collections.abc import Callable
from functools import partial

from barnabas.model.clock import Clock
from barnabas.model.errors import BarnabasError
from barnabas.storage.checkpoints import Checkpoints
from barnabas.storage.log import Log
from barnabas.storage.log_cleaner import CleanTask, LogCleaner
from barnabas.storage.log_table import LogTable
from barnabas.storage.purging import PurgeTask, Purging

_log = logging.getLogger(__name__)


class Maintenance:
    """Loop-owned, except for the `run` of its tasks."""

    def __init__(
        self,
        table: LogTable,
        clock: Clock,
        checkpoints: Checkpoints,
        purging: Purging,
        cleaning: LogCleaner,
        producer_expiration_ms: int,
    ) -> None:
        self.cleaning = cleaning
        self._table = table
        self._clock = clock
        self._checkpoints = checkpoints
        self._purging = purging
        self._producer_expiration_ms = producer_expiration_ms

    # Retention

    def run_retention(self, now_ms: int) -> int:
        """Delete what retention no longer holds; the files wait for their delay."""
        deleted = 0
        for log in self._table.all_working():
            deleted += _guarded(log, partial(log.delete_old_segments, now_ms)) or 0
            log.producers.expire(now_ms, self._producer_expiration_ms)
        return deleted

    def begin_purge(self) -> PurgeTask | None:
        """What is to be unlinked now; `run` it on a thread and give it to `finish_purge`."""
        return self._purging.begin(self._table.all_working())

    def finish_purge(self, task: PurgeTask) -> None:
        self._purging.finish(task)

    def purge_deleted(self) -> None:
        """Unlink it here and now."""
        task = self.begin_purge()
        if task is not None:
            task.run()
            self.finish_purge(task)

    # Flushing

    def logs_to_flush(self) -> list[Log]:
        """Logs whose `flush.messages`, `flush.ms` or finished segment asks for a flush."""
        now = self._clock.monotonic_ms()
        return [
            log
            for log in self._table.working()
            if log.flush_due or (log.unflushed and now - log.last_flush_ms >= log.config.flush_ms)
        ]

    def flush_dirty(self) -> int:
        """Flush those logs here and now; a broker runs their tasks on a thread instead."""
        due = self.logs_to_flush()
        for log in due:
            _guarded(log, log.flush)
            log.last_flush_ms = self._clock.monotonic_ms()
        return len(due)

    # Compaction

    def begin_clean(self, now_ms: int, *, force: bool = False) -> CleanTask | None:
        """Plan a compaction pass; `run` it on a thread and give it to `finish_clean`.

        Logs that are being copied wait: segments must not change under the copy.
        """
        logs = [log for log in self._table.working() if not self._table.is_moving(log)]
        return self.cleaning.begin(logs, now_ms, force=force)

    def finish_clean(self, task: CleanTask) -> bool:
        """Put a finished pass in place and note where it ended."""
        if self._table.get(task.log.topic_partition) is not task.log:
            self.cleaning.abandon(task)
            return False
        done = bool(_guarded(task.log, partial(self.cleaning.finish, task)))
        if done:
            self._checkpoints.cleaned_offsets()
        return done

    def clean(self, now_ms: int, *, force: bool = False) -> bool:
        """Clean the dirtiest log here and now; False when none asks for it."""
        task = self.begin_clean(now_ms, force=force)
        if task is None:
            return False
        task.run()
        return self.finish_clean(task)


def _guarded(log: Log, work: Callable[[], int | None]) -> int | None:
    """Run work on one log and report its failure."""
    try:
        return work()
    except BarnabasError as error:
        _log.warning("%s: %s", log.topic_partition, error)
    return None
