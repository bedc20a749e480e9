"""Commits the position of a query as offsets of a consumer group, for tools that show lag.

The checkpoint alone decides where a query continues. A separate thread sends the commits: a
coordinator that is unavailable, or an ACL that denies the commit, must not delay or end the query.
Each error is logged once.
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
    """A position to commit."""

    offsets: Offsets
    mark: QueryMark


class GroupMirror:
    """Owned by the driver side of one query; close it. Only the newest position is committed."""

    def __init__(self, client: Mapping[str, str], group: str) -> None:
        self._group = group
        self._settings = admin_settings(client)
        self._lock = threading.Condition()
        self._newest: Position | None = None
        self._written: Position | None = None
        self._closed = threading.Event()
        self._logged: str | None = None
        self._thread: threading.Thread | None = None

    def topic_ids(self, start: Offsets) -> dict[str, Uuid]:
        """Returns the stored ids of the topics that the query has read; empty if there are none."""
        try:
            with Admin(self._settings) as admin:
                group = self._group + MARK_SUFFIX
                committed = admin.list_group_offsets([group])[group].get(MARK_PLACE)
        except BarnabasError as error:
            self._log_once(error)
            return {}
        mark = None if committed is None else QueryMark.parse(committed.metadata)
        return {} if mark is None else mark.ids_at(start)

    def processed(self, start: Offsets, end: Offsets, ids: Mapping[str, Uuid]) -> None:
        """Takes the position of a query: it has processed all before `start`, reads to `end`."""
        with self._lock:
            self._newest = Position(dict(start), mark_of(start, end, ids))
            if self._thread is None and start:
                self._thread = threading.Thread(target=self._run, name="offsets", daemon=True)
                self._thread.start()
            self._lock.notify_all()

    def flush(self, seconds: float = FLUSH_SECONDS) -> None:
        """Waits until the newest position is committed, or the commit has failed."""
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
        """Waits for the next position to commit; None after `close`."""
        with self._lock:
            self._lock.wait_for(lambda: self._written != self._newest or self._closed.is_set())
            return None if self._written == self._newest else self._newest

    def _write(self, admin: Admin, wanted: Position) -> None:
        mark = {MARK_PLACE: OffsetAndMetadata(0, wanted.mark.text())}
        try:
            admin.alter_group_offsets(self._group, wanted.offsets).check()
            admin.alter_group_offsets(self._group + MARK_SUFFIX, mark).check()
        except BarnabasError as error:
            self._log_once(error)

    def _log_once(self, error: BarnabasError) -> None:
        text = str(error)
        if text != self._logged:
            self._logged = text
            _log.warning(
                "group %r: cannot commit the query's position (the query does not need it): %s",
                self._group,
                text,
            )
