"""What a statement answers with: a message, a table, or rows that keep coming."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Message:
    """Something was done; or a text, such as a plan."""

    text: str
    query_id: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows that are all there; `columns` are shown in a table, JSON shows every key."""

    columns: Sequence[str]
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Streamed:
    """Rows as they come, until `close`, or the limit that the statement has."""

    columns: Sequence[str]
    rows: Iterator[Row]
    close: Callable[[], None]


Result = Message | Table | Streamed
