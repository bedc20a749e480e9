"""Dead letters: records that a query could not process, as rows for the sink.

A dead letter has the key, the value and the headers of its record, byte for byte, and the record's
timestamp. Further headers name its origin and the reason, as in the consumers' dead letters.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIX = ".dlq"
DECODE_ERROR = "DecodeError"
TIMESTAMP = "timestamp"
"""The column of `sink_batch` for the option `timestampColumn`."""
Header = tuple[str, bytes | None]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One record and why it is here."""

    topic: str | None
    """None, like partition and offset, if the record is the result of a grouping or a join."""
    partition: int | None
    offset: int | None
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]
    reason: str
    error_class: str = DECODE_ERROR

    def all_headers(self) -> list[Header]:
        """The record's own, then those that explain."""
        described = {
            "dlq.topic": self.topic,
            "dlq.partition": self.partition,
            "dlq.offset": self.offset,
            "dlq.timestamp": self.timestamp,
            "dlq.error.class": self.error_class,
            "dlq.error.message": self.reason,
        }
        known = [
            (key, str(value).encode()) for key, value in described.items() if value is not None
        ]
        return [*self.headers, *known]


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
    """Dead letters as rows of the sink; without `topic` each goes to `<its topic>.dlq`."""
    import pyarrow as pa

    rows: list[dict[str, Any]] = [
        {
            "topic": topic or f"{letter.topic}{SUFFIX}",
            "key": letter.key,
            "value": letter.value,
            "headers": [{"key": key, "value": value} for key, value in letter.all_headers()],
            # Null where the record has no timestamp: the producer then sets the present time.
            TIMESTAMP: letter.timestamp if letter.timestamp >= 0 else None,
        }
        for letter in letters
    ]
    header = pa.struct([("key", pa.string()), ("value", pa.binary())])
    fields = [("topic", pa.string()), ("key", pa.binary()), ("value", pa.binary())]
    time = (TIMESTAMP, pa.timestamp("ms", tz="UTC"))
    schema = pa.schema([*fields, ("headers", pa.list_(header)), time])
    return pa.RecordBatch.from_pylist(rows, schema=schema)
