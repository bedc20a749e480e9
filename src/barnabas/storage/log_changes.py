"""Logs that changed since a periodic job has handled them.

A job over all logs of an idle broker would visit thousands of logs each second to find that nothing
is to be done. Each log adds itself to one list at its first change (`Log.report_changes`); here the
list is divided among the jobs, which run at different intervals.

Retention is not one of these jobs: a log without any change expires too.
"""

from collections.abc import Iterable

from barnabas.storage import file_names
from barnabas.storage.log import Log

FLUSH = "flush"
PURGE = "purge"
_CHECKPOINTS = (
    file_names.RECOVERY_POINTS,
    file_names.LOG_START_OFFSETS,
    file_names.HIGH_WATERMARKS,
)


class LogChanges:
    """Collects changed logs for the periodic jobs. Owned by the event loop."""

    def __init__(self) -> None:
        self._new: list[Log] = []
        # Dictionaries instead of sets: the order of the logs must not depend on their addresses.
        self._by_job: dict[str, dict[Log, None]] = {FLUSH: {}, PURGE: {}}
        self._outdated: set[str] = set()

    def watch(self, log: Log) -> None:
        """Begins with a new log, which counts as changed."""
        log.report_changes(self._new)

    def removed(self, log: Log) -> None:
        """Forgets a log; checkpoints must be written without it."""
        for logs in self._by_job.values():
            logs.pop(log, None)
        self._outdated.update(_CHECKPOINTS)

    def take(self, job: str) -> list[Log]:
        """Returns the logs that changed since the last call for this job, `FLUSH` or `PURGE`.

        A change after this call is part of the next one.
        """
        self._divide()
        taken = list(self._by_job[job])
        self._by_job[job] = {}
        return taken

    def again(self, job: str, logs: Iterable[Log]) -> None:
        """Makes logs part of the next call for this job, because the job is not complete."""
        self._by_job[job].update(dict.fromkeys(logs))

    def take_outdated(self, checkpoint: str) -> bool:
        """Returns whether a log changed or was removed since the last call for this checkpoint."""
        self._divide()
        outdated = checkpoint in self._outdated
        self._outdated.discard(checkpoint)
        return outdated

    def still_outdated(self, checkpoint: str) -> None:
        """Makes the next call return True, because the checkpoint was not written."""
        self._outdated.add(checkpoint)

    def _divide(self) -> None:
        if not self._new:
            return
        new = dict.fromkeys(self._new)
        self._new.clear()
        for log in new:
            log.reported()
        for logs in self._by_job.values():
            logs.update(new)
        self._outdated.update(_CHECKPOINTS)
