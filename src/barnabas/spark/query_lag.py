"""How far behind its topics a query is, from the progress that Spark reports.

A Python source cannot put metrics of its own into the progress; but it tells the latest offsets,
and these with the end of the batch are all that Spark's own Kafka source makes its metrics from.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.listener import StreamingQueryListener

from barnabas.model.ids import TopicPartition
from barnabas.spark.source.offsets import Offsets, read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.listener import (
        QueryIdleEvent,
        QueryProgressEvent,
        QueryStartedEvent,
        QueryTerminatedEvent,
    )


@dataclass(frozen=True, slots=True)
class Lag:
    """Offsets that are in the topics and not yet processed, by partition, of one query."""

    partitions: Mapping[TopicPartition, int]

    @property
    def total(self) -> int:
        return sum(self.partitions.values())

    def metrics(self) -> dict[str, float]:
        """Under the names of Spark's own Kafka source."""
        behind = self.partitions.values()
        return {
            "minOffsetsBehindLatest": float(min(behind, default=0)),
            "maxOffsetsBehindLatest": float(max(behind, default=0)),
            "avgOffsetsBehindLatest": self.total / len(behind) if behind else 0.0,
        }


def lag_of(progress: Any) -> Lag | None:
    """Of a query's `lastProgress` or a listener's progress; None while there is nothing to tell.

    Sources that are not topics are left out.
    """
    if progress is None:
        return None
    behind: dict[TopicPartition, int] = {}
    told = False
    for source in _field(progress, "sources") or ():
        end, latest = (_offsets(_field(source, name)) for name in ("endOffset", "latestOffset"))
        if end is None or latest is None:
            continue
        told = True
        for place, offset in latest.items():
            behind[place] = behind.get(place, 0) + max(offset - end.get(place, 0), 0)
    return Lag(behind) if told else None


class LagListener(StreamingQueryListener):
    """Calls `on_lag(query, lag)` after each batch; a query goes by its name, or else its id."""

    def __init__(self, on_lag: Callable[[str, Lag], None]) -> None:
        self._on_lag = on_lag

    def onQueryStarted(self, event: "QueryStartedEvent") -> None:
        """Nothing has been read yet."""

    def onQueryProgress(self, event: "QueryProgressEvent") -> None:
        found = lag_of(event.progress)
        if found is not None:
            self._on_lag(event.progress.name or str(event.progress.id), found)

    def onQueryIdle(self, event: "QueryIdleEvent") -> None:
        """Nothing has changed."""

    def onQueryTerminated(self, event: "QueryTerminatedEvent") -> None:
        """The last progress has been told."""


def listen(spark: "SparkSession", on_lag: Callable[[str, Lag], None]) -> LagListener:
    """See `barnabas.spark.watch_lag`."""
    listener = LagListener(on_lag)
    spark.streams.addListener(listener)
    return listener


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _offsets(value: Any) -> Offsets | None:
    """None for what is no set of offsets: other sources have positions of their own kind."""
    try:
        return read(json.loads(value) if isinstance(value, str) else value)
    except ValueError:
        return None
