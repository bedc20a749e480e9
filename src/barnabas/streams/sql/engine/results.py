"""Results of statements: a message, a table, or a stream of rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

Row = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class TextResult:
    """A confirmation, or a text such as a plan."""

    text: str
    query_id: str | None = None


@dataclass(frozen=True, slots=True)
class TableResult:
    """A complete set of rows; `columns` are shown in a table, JSON shows every key."""

    columns: Sequence[str]
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class StreamResult:
    """Rows as they arrive, until `close` or the statement's limit."""

    columns: Sequence[str]
    rows: Iterator[Row]
    close: Callable[[], None]


Result = TextResult | TableResult | StreamResult
