"""Lag and micro-batch of queries, from the progress that Spark reports.

A Python source cannot add metrics to the progress. But it reports the latest offsets; with the end
offsets of the micro-batch they give the metrics of Spark's own Kafka source.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from barnabas.model.ids import TopicPartition
from barnabas.spark.source.offsets import Offsets, read


@dataclass(frozen=True, slots=True)
class Lag:
    """Number of offsets that one query has not yet processed, by partition."""

    partitions: Mapping[TopicPartition, int]

    @property
    def total(self) -> int:
        return sum(self.partitions.values())

    def metrics(self) -> dict[str, float]:
        """Returns the metrics with the names of Spark's own Kafka source."""
        behind = self.partitions.values()
        return {
            "minOffsetsBehindLatest": float(min(behind, default=0)),
            "maxOffsetsBehindLatest": float(max(behind, default=0)),
            "avgOffsetsBehindLatest": self.total / len(behind) if behind else 0.0,
        }


def lag(progress: Any) -> Lag | None:
    """Returns the lag of a query from its `lastProgress`; None before its first micro-batch.

    `lag(query.lastProgress).metrics()` has the names of Spark's own Kafka source. A listener's
    progress is accepted as well. Sources other than topics are ignored.
    """
    if progress is None:
        return None
    behind: dict[TopicPartition, int] = {}
    reported = False
    for source in _field(progress, "sources") or ():
        end, latest = (_offsets(_field(source, name)) for name in ("endOffset", "latestOffset"))
        if end is None or latest is None:
            continue
        reported = True
        for topic_partition, offset in latest.items():
            behind[topic_partition] = behind.get(topic_partition, 0) + max(
                offset - end.get(topic_partition, 0), 0
            )
    return Lag(behind) if reported else None


def is_idle(progress: Mapping[str, Any]) -> bool:
    """Returns whether a progress reports a trigger that executed no micro-batch.

    Spark reports such triggers every ten seconds; `batchId` is that of the next micro-batch.

    >>> is_idle({"batchId": 2, "numInputRows": 0, "durationMs": {"latestOffset": 1}})
    True
    """
    return not progress["numInputRows"] and "addBatch" not in progress["durationMs"]


def last_batch(progress: Mapping[str, Any]) -> int:
    """Returns the last micro-batch that had ended at a progress; -1 before the first."""
    return int(progress["batchId"]) - (1 if is_idle(progress) else 0)


def _field(value: object, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _offsets(value: Any) -> Offsets | None:
    """Returns None for the positions of other sources, which are not offsets."""
    try:
        return read(json.loads(value) if isinstance(value, str) else value)
    except ValueError:
        return None
