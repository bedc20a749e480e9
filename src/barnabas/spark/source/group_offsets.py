"""Commits the position of a query, and the ids of its topics, as offsets of consumer groups.

The position is for tools that show lag; the checkpoint alone decides where a query continues. A
separate thread sends the commits: a coordinator that is unavailable, or an ACL that denies the
commit, must not delay or end the query. Each error is logged once.

A checkpoint holds offsets by topic name, which do not show that a topic was deleted and created
again while the query was stopped. Topic ids show it. They are the metadata of one committed offset
of a separate group. It is not an offset of the topic itself, because the cluster deletes those with
the topic, which is when the ids are needed. The ids are used only if they belong to the query's
last micro-batch: the query must begin at the start or at the end offsets that were stored with
them.

The text: `spark <crc of the offsets> <crc of the next ones> <crc of a topic's name>:<its id> ...`
"""

import json
import logging
import threading
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from barnabas.admin import Admin
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.model.records import OffsetAndMetadata
from barnabas.spark.options import admin_settings
from barnabas.spark.source.offsets import Offsets, render

TOPIC_IDS_PARTITION = TopicPartition("__consumer_offsets", 0)
"""A partition that every cluster with a committed offset has."""

LONGEST = 4096
"""The limit of offset.metadata.max.bytes; topics beyond it are not stored."""

_WORD = "spark"
# Collects the positions of fast micro-batches into one commit.
PAUSE_SECONDS = 0.5
FLUSH_SECONDS = 15.0
TOPIC_IDS_SUFFIX = "-topics"


@dataclass(frozen=True, slots=True)
class StoredTopicIds:
    """Checksums of start and end offsets, and topic ids by the checksum of the topic's name."""

    start: str
    end: str
    ids: Mapping[str, Uuid]

    def text(self) -> str:
        found = f"{_WORD} {self.start} {self.end}"
        for name, topic_id in self.ids.items():
            item = f" {name}:{topic_id}"
            if len(found) + len(item) > LONGEST:
                break
            found += item
        return found

    @classmethod
    def parse(cls, text: str) -> "StoredTopicIds | None":
        """Returns the stored ids of a text; None for a text of another kind."""
        word, *parts = text.split(" ")
        if word != _WORD or len(parts) < 2:
            return None
        try:
            pairs = [part.split(":", 1) for part in parts[2:]]
            return cls(parts[0], parts[1], {name: Uuid.parse(uuid) for name, uuid in pairs})
        except ValueError:
            return None

    def ids_at(self, start: Offsets) -> dict[str, Uuid]:
        """Returns the topic ids that belong to a query that begins at `start`."""
        # The checkpoint is at the start or the end of the micro-batch that was planned last. Any
        # other position means that the ids belong to another run, for example after the
        # checkpoint was deleted, and could report a loss that is none.
        if _crc(_text(start)) not in (self.start, self.end):
            return {}
        # At offset 0 nothing has been read, so a topic that was created again loses nothing.
        topics = {topic_partition.topic for topic_partition, offset in start.items() if offset}
        return {name: self.ids[_crc(name)] for name in topics if _crc(name) in self.ids}


def stored_ids_of(start: Offsets, end: Offsets, ids: Mapping[str, Uuid]) -> StoredTopicIds:
    """Returns the ids to store: the query has processed all before `start`, reads to `end` next."""
    known = {_crc(name): ids[name] for name in _topics(start) if name in ids}
    return StoredTopicIds(_crc(_text(start)), _crc(_text(end)), known)


def _topics(topic_partitions: Iterable[TopicPartition]) -> list[str]:
    return sorted({topic_partition.topic for topic_partition in topic_partitions})


def _text(offsets: Offsets) -> str:
    return json.dumps(render(offsets))


def _crc(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"


_log = logging.getLogger("barnabas.spark")


@dataclass(frozen=True, slots=True)
class Position:
    """A position to commit."""

    offsets: Offsets
    topic_ids: StoredTopicIds


class GroupMirror:
    """Commits the position of a query as offsets of its consumer group.

    Owned by the driver side of one query, which closes it. Only the newest position is committed.
    """

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
                group = self._group + TOPIC_IDS_SUFFIX
                committed = admin.list_group_offsets([group])[group].get(TOPIC_IDS_PARTITION)
        except BarnabasError as error:
            self._log_once(error)
            return {}
        stored = None if committed is None else StoredTopicIds.parse(committed.metadata)
        return {} if stored is None else stored.ids_at(start)

    def processed(self, start: Offsets, end: Offsets, ids: Mapping[str, Uuid]) -> None:
        """Takes the position of a query: it has processed all before `start`, reads to `end`."""
        with self._lock:
            self._newest = Position(dict(start), stored_ids_of(start, end, ids))
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
                # close() ends the pause, and a position that is not written yet is still written.
                self._closed.wait(PAUSE_SECONDS)

    def _wait(self) -> Position | None:
        """Waits for the next position to commit; None after `close`."""
        with self._lock:
            self._lock.wait_for(lambda: self._written != self._newest or self._closed.is_set())
            return None if self._written == self._newest else self._newest

    def _write(self, admin: Admin, wanted: Position) -> None:
        topic_ids = {TOPIC_IDS_PARTITION: OffsetAndMetadata(0, wanted.topic_ids.text())}
        try:
            # A query is not a member of its group, so the offsets are committed without one, as
            # an admin tool does. The broker rejects this if a consumer uses the same group id.
            admin.alter_group_offsets(self._group, wanted.offsets).check()
            admin.alter_group_offsets(self._group + TOPIC_IDS_SUFFIX, topic_ids).check()
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
