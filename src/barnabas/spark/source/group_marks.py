"""Which topics a query has read, kept where a restarted query can find it. Pure.

A query's checkpoint holds offsets by topic names. That a topic was deleted and created again while
the query was stopped cannot be told from them; the topics' ids can. They are the metadata of one
committed offset of a group of their own. It is not an offset of the topic itself: the cluster
forgets those when the topic goes, which is when they are needed.

A mark is believed only if it is of this query's last step, by the offsets: the query begins where
the mark says it stood, or where the mark says it was about to go.

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
"""What brokers take as metadata (offset.metadata.max.bytes); topics past it are not remembered."""

_WORD = "spark"


@dataclass(frozen=True, slots=True)
class QueryMark:
    """Where a query stood, where it was to go, and the topics it knew by the crc of their names."""

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
        """None for what is no mark."""
        word, *parts = text.split(" ")
        if word != _WORD or len(parts) < 2:
            return None
        try:
            pairs = [part.split(":", 1) for part in parts[2:]]
            return cls(parts[0], parts[1], {name: Uuid.parse(uuid) for name, uuid in pairs})
        except ValueError:
            return None

    def ids_at(self, start: Offsets) -> dict[str, Uuid]:
        """The topics' ids as the query that begins at `start` has known them."""
        if _crc(_text(start)) not in (self.start, self.end):
            return {}
        # Of a topic that stands at 0 nothing has been read: whichever it was, nothing is lost.
        topics = {place.topic for place, offset in start.items() if offset}
        return {name: self.ids[_crc(name)] for name in topics if _crc(name) in self.ids}


def mark_of(start: Offsets, end: Offsets, ids: Mapping[str, Uuid]) -> QueryMark:
    """The mark of a query that has processed all before `start` and goes on to `end`."""
    known = {_crc(name): ids[name] for name in _topics(start) if name in ids}
    return QueryMark(_crc(_text(start)), _crc(_text(end)), known)


def _topics(places: Iterable[TopicPartition]) -> list[str]:
    return sorted({place.topic for place in places})


def _text(offsets: Offsets) -> str:
    return json.dumps(render(offsets))


def _crc(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"
