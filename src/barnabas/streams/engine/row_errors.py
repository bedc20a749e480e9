"""Applies the topology's error policy to exceptions of Python functions.

`RowErrors` is a value that is pickled to Spark's workers with the function; each task creates a
`TaskErrors` from it, which raises, skips, or collects dead letters and writes them at the end of
the task.

The value of a dead letter is the row that the function was called with, as JSON. Its headers name
the source record, if the row still has one: rows after a grouping or a join have no offset.
"""

import datetime
import decimal
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyspark import TaskContext

from barnabas.model.errors import LocalError
from barnabas.spark.dead_letters import DeadLetter, DeadLetterWriter
from barnabas.streams.nodes import ErrorPolicy, Through, TopicSource, TopologyNode
from barnabas.streams.schema import RESERVED
from barnabas.streams.stages import roots_of
from barnabas.streams.topology import Topology

if TYPE_CHECKING:
    import pyarrow as pa

_log = logging.getLogger("barnabas.streams")


class RowFunctionError(LocalError):
    """A Python function of a topology raised an exception for a row."""


@dataclass(frozen=True, slots=True)
class RowErrors:
    """The error policy of one step, for rows for which its function raises an exception."""

    step: str
    """The step's label, for messages."""
    action: str = "stop"
    topic: str = ""
    """The dead-letter topic."""
    origin: str | None = None
    """The topic that the rows were read from; None if there are several."""
    name: str = ""
    """Unique within the query and the same after a restart."""
    client: Mapping[str, str] = field(default_factory=dict)

    def begin(self) -> "TaskErrors":
        """Returns the error handling of one task; called in the task."""
        return TaskErrors(self)


class TaskErrors:
    """The failed rows of one task. Call `finish` when the task has read all rows."""

    def __init__(self, errors: RowErrors) -> None:
        self._errors = errors
        self._letters: list[DeadLetter] = []
        self._count = 0
        self._first = ""

    @property
    def stops(self) -> bool:
        return self._errors.action == "stop"

    def failed(self, batch: "pa.RecordBatch", index: int, error: Exception) -> None:
        """Handles the exception of a row; raises RowFunctionError if the policy is "stop"."""
        row = batch.slice(index, 1).to_pylist()[0]
        text = f"{self._errors.step}: {_origin(row)}: {type(error).__name__}: {error}"
        if self.stops:
            hint = "on_error='skip' or 'dlq' lets the query continue"
            raise RowFunctionError(f"{text} ({hint})") from error
        self._count += 1
        self._first = self._first or text
        if self._errors.action == "dlq":
            self._letters.append(self._letter(row, error))

    def finish(self) -> None:
        """Writes the dead letters, exactly once in a streaming query, and logs their number."""
        if not self._count:
            return
        if self._letters:
            errors = self._errors
            box = DeadLetterWriter(errors.client, errors.topic, errors.name, _task_number())
            box.add(self._letters)
            box.send()
        _log.warning("skipped %d rows; the first: %s", self._count, self._first)

    def _letter(self, row: dict[str, Any], error: Exception) -> DeadLetter:
        time = row["_timestamp"]
        own = {name: value for name, value in row.items() if name not in RESERVED}
        return DeadLetter(
            self._errors.origin,
            row["_partition"],
            row["_offset"],
            -1 if time is None else round(time.timestamp() * 1000),
            _key_bytes(row["_key"]),
            json.dumps(own, default=_plain).encode(),
            (),
            str(error),
            error_class=type(error).__name__,
        )


@dataclass(frozen=True, slots=True)
class ErrorHandling:
    """The error policies of a topology's steps, on the driver."""

    topology: Topology
    client: Mapping[str, str]

    def of(self, node: TopologyNode, policy: ErrorPolicy | None) -> RowErrors:
        """Returns the handling of one step; without a policy of the step the topology's policy
        applies.
        """
        chosen = policy or self.topology.on_error
        sources = {name for root in roots_of(node) if (name := _topic_of(root)) is not None}
        number = self.topology.nodes().index(node)
        return RowErrors(
            node.label,
            chosen.action,
            self.topology.dead_letter_topic(chosen),
            next(iter(sources)) if len(sources) == 1 else None,
            f"rows-{number}",
            self.client,
        )


def without_topology(node: TopologyNode, policy: ErrorPolicy | None) -> RowErrors:
    """Returns the handling for bounded reads, which write nothing: skip failed rows or stop."""
    stops = policy is None or policy.action == "stop"
    return RowErrors(node.label, "stop" if stops else "skip")


def _topic_of(root: TopologyNode) -> str | None:
    if isinstance(root, TopicSource):
        return root.topic.name
    return root.topic.name if isinstance(root, Through) and root.topic is not None else None


def _task_number() -> int:
    task = TaskContext.get()
    return 0 if task is None else task.partitionId()


def _origin(row: Mapping[str, object]) -> str:
    if row["_offset"] is None:
        return f"row with key {row['_key']!r}"
    return f"partition {row['_partition']}, offset {row['_offset']}"


def _key_bytes(key: object) -> bytes | None:
    if key is None or isinstance(key, bytes):
        return key
    return (json.dumps(key, default=_plain) if isinstance(key, dict) else str(key)).encode()


def _plain(value: object) -> object:
    """Converts values that JSON cannot represent."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()
    return str(value) if isinstance(value, decimal.Decimal) else repr(value)
