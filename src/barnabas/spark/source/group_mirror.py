"""A query's position as a consumer group's committed offsets, for those who watch lag.

The checkpoint alone decides where a query goes on; the group is written, never read for that. The
commits are made by a thread of their own: a coordinator that cannot be reached, or an ACL that
forbids it, must not hold up or end a query, and is told once.
"""

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from barnabas.admin import Admin
from barnabas.model.errors import BarnabasError
from barnabas.model.group_metadata import OffsetAndMetadata
from barnabas.model.ids import Uuid
from barnabas.spark.client_settings import admin_settings
from barnabas.spark.source.group_marks import MARK_PLACE, QueryMark, mark_of
from barnabas.spark.source.offsets import Offsets

PAUSE_SECONDS = 0.5
FLUSH_SECONDS = 15.0
_log = logging.getLogger("barnabas.spark")

MARK_SUFFIX = "-topics"


@dataclass(frozen=True, slots=True)
class Position:
    """What is to be written."""

    offsets: Offsets
    mark: QueryMark


class GroupMirror:
    """Owned by one query's driver side; close it. Only the newest position is ever written."""

    def __init__(self, client: Mapping[str, str], group: str) -> None:
        self._group = group
        self._settings = admin_settings(client)
        self._lock = threading.Condition()
        self._newest: Position | None = None
        self._written: Position | None = None
        self._closed = threading.Event()
        self._told: str | None = None
        self._thread: threading.Thread | None = None

    def topic_ids(self, start: Offsets) -> dict[str, Uuid]:
        """The ids of the topics that the query has read, as far as the group can tell."""
        try:
            with Admin(self._settings) as admin:
                group = self._group + MARK_SUFFIX
                committed = admin.list_group_offsets([group])[group].get(MARK_PLACE)
        except BarnabasError as error:
            self._tell(error)
            return {}
        mark = None if committed is None else QueryMark.parse(committed.metadata)
        return {} if mark is None else mark.ids_at(start)

    def processed(self, start: Offsets, end: Offsets, ids: Mapping[str, Uuid]) -> None:
        """Everything before `start` is done with; the query goes on to `end`."""
        with self._lock:
            self._newest = Position(dict(start), mark_of(start, end, ids))
            if self._thread is None and start:
                self._thread = threading.Thread(target=self._run, name="offsets", daemon=True)
                self._thread.start()
            self._lock.notify_all()

    def flush(self, seconds: float = FLUSH_SECONDS) -> None:
        """Wait until the newest position is written, or cannot be."""
        with self._lock:
            if self._thread is not None:
                self._lock.wait_for(lambda: self._written == self._newest, seconds)

    def close(self) -> None:
        self._closed.set()
        with self._lock:
            self._lock.notify_all()
        if self._thread is not None:
            self._thread.join(FLUSH_SECONDS)

    def _run(self) -> None:
        with Admin(self._settings) as admin:
            while True:
                wanted = self._wait()
                if wanted is None:
                    return
                self._write(admin, wanted)
                with self._lock:
                    self._written = wanted
                    self._lock.notify_all()
                self._closed.wait(PAUSE_SECONDS)

    def _wait(self) -> Position | None:
        """The next position to write; None when there is none and will be none."""
        with self._lock:
            self._lock.wait_for(lambda: self._written != self._newest or self._closed.is_set())
            return None if self._written == self._newest else self._newest

    def _write(self, admin: Admin, wanted: Position) -> None:
        mark = {MARK_PLACE: OffsetAndMetadata(0, wanted.mark.text())}
        try:
            admin.alter_group_offsets(self._group, wanted.offsets).check()
            admin.alter_group_offsets(self._group + MARK_SUFFIX, mark).check()
        except BarnabasError as error:
            self._tell(error)

    def _tell(self, error: BarnabasError) -> None:
        text = str(error)
        if text != self._told:
            self._told = text
            _log.warning(
                "the query's position cannot be shown as group %r, which it does not need: %s",
                self._group,
                text,
            )
