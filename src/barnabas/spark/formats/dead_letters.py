"""Records that do not decode, on their way to a dead-letter topic.

A dead letter has the key, the value and the headers of its record, byte for byte, and headers with
its origin and the reason, the same that the consumers' dead letters have.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIX = ".dlq"
ERROR_CLASS = "DecodeError"
Header = tuple[str, bytes | None]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One record and why it is here."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]
    reason: str

    def all_headers(self) -> list[Header]:
        """The record's own, then those that explain."""
        return [
            *self.headers,
            ("dlq.topic", self.topic.encode()),
            ("dlq.partition", str(self.partition).encode()),
            ("dlq.offset", str(self.offset).encode()),
            ("dlq.timestamp", str(self.timestamp).encode()),
            ("dlq.error.class", ERROR_CLASS.encode()),
            ("dlq.error.message", self.reason.encode()),
        ]


def take_letters(batch: "pa.RecordBatch", reasons: dict[int, str]) -> Iterator[DeadLetter]:
    """The rows of an undecoded batch (topic, partition, offset, key, value and, where there are
    such, timestamp and headers) that have a reason."""
    for at in sorted(reasons):
        row = batch.slice(at, 1).to_pylist()[0]
        time = row.get("timestamp")
        pairs = row.get("headers") or ()
        yield DeadLetter(
            row["topic"],
            row["partition"],
            row["offset"],
            -1 if time is None else round(time.timestamp() * 1000),
            row["key"],
            row["value"],
            tuple((pair["key"], pair["value"]) for pair in pairs),
            reasons[at],
        )


def sink_batch(letters: Iterable[DeadLetter], topic: str | None) -> "pa.RecordBatch":
    """Letters as the sink takes rows; without a topic each goes beside its own."""
    import pyarrow as pa

    rows: list[dict[str, Any]] = [
        {
            "topic": topic or letter.topic + SUFFIX,
            "key": letter.key,
            "value": letter.value,
            "headers": [{"key": key, "value": value} for key, value in letter.all_headers()],
        }
        for letter in letters
    ]
    header = pa.struct([("key", pa.string()), ("value", pa.binary())])
    fields = [("topic", pa.string()), ("key", pa.binary()), ("value", pa.binary())]
    schema = pa.schema([*fields, ("headers", pa.list_(header))])
    return pa.RecordBatch.from_pylist(rows, schema=schema)
