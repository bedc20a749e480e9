"""The ids of the topics that a query has read, stored for the next start of the query. Pure.

A checkpoint holds offsets by topic name, which do not show that a topic was deleted and created
again while the query was stopped. Topic ids show it. They are the metadata of one committed offset
of a separate group. It is not an offset of the topic itself, because the cluster deletes those with
the topic, which is when the ids are needed.

The ids are used only if they belong to the query's last micro-batch: the query must begin at the
start or at the end offsets that were stored with them.

The text: `spark <crc of the offsets> <crc of the next ones> <crc of a topic's name>:<its id> ...`
"""

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from barnabas.model.ids import TopicPartition, Uuid
from barnabas.spark.source.offsets import Offsets, render

MARK_PLACE = TopicPartition("__consumer_offsets", 0)
"""A partition that every cluster with a committed offset has."""

LONGEST = 4096
"""The limit of offset.metadata.max.bytes; topics beyond it are not stored."""

_WORD = "spark"


@dataclass(frozen=True, slots=True)
class QueryMark:
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
    def parse(cls, text: str) -> "QueryMark | None":
        """Returns the mark of a text; None if the text is something else."""
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
        if _crc(_text(start)) not in (self.start, self.end):
            return {}
        # At offset 0 nothing has been read, so a topic that was created again loses nothing.
        topics = {topic_partition.topic for topic_partition, offset in start.items() if offset}
        return {name: self.ids[_crc(name)] for name in topics if _crc(name) in self.ids}


def mark_of(start: Offsets, end: Offsets, ids: Mapping[str, Uuid]) -> QueryMark:
    """Returns the mark of a query that has processed all before `start` and reads to `end` next."""
    known = {_crc(name): ids[name] for name in _topics(start) if name in ids}
    return QueryMark(_crc(_text(start)), _crc(_text(end)), known)


def _topics(topic_partitions: Iterable[TopicPartition]) -> list[str]:
    return sorted({topic_partition.topic for topic_partition in topic_partitions})


def _text(offsets: Offsets) -> str:
    return json.dumps(render(offsets))


def _crc(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"
