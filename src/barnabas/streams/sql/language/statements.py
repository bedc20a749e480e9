"""What a statement says, as frozen values.

Every statement knows its own text and where that begins in what was typed. Names keep the case in
which they were written; they are compared without regard to it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from sqlglot import exp


class RelationKind(Enum):
    """A stream is a log of facts; a table the newest value of each key."""

    STREAM = "STREAM"
    TABLE = "TABLE"


class KeyRole(Enum):
    """Whether a column is in the record's key or in its value."""

    NONE = ""
    KEY = "KEY"
    PRIMARY = "PRIMARY KEY"


@dataclass(frozen=True, slots=True)
class Column:
    """A declared column; `type` is Spark's text of it."""

    name: str
    type: str
    role: KeyRole = KeyRole.NONE


class WindowKind(Enum):
    TUMBLING = "TUMBLING"
    HOPPING = "HOPPING"
    SESSION = "SESSION"


@dataclass(frozen=True, slots=True)
class Window:
    """A window over time, in milliseconds. `advance_ms` is of hopping ones; for a session
    `size_ms` is the gap that ends it."""

    kind: WindowKind
    size_ms: int
    advance_ms: int | None = None
    grace_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Within:
    """How far apart in time two rows of joined streams may be."""

    before_ms: int
    after_ms: int
    grace_ms: int | None = None


class Emit(Enum):
    """CHANGES: rows as they change. FINAL: each window once, when it is over."""

    CHANGES = "CHANGES"
    FINAL = "FINAL"


@dataclass(frozen=True, slots=True)
class Query:
    """A SELECT: the tree that sqlglot read, and the clauses that only streams have.

    `withins` has one entry for each join, in their order.
    """

    text: str = field(repr=False)
    position: int
    """Where the query begins in `text`, which is all that was typed: expressions know their
    places as offsets into it."""
    tree: exp.Query
    window: Window | None = None
    withins: tuple[Within | None, ...] = ()
    partition_by: tuple[exp.Expr, ...] = ()
    emit: Emit | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """What all statements have: their text, and where it begins in what was typed."""

    text: str
    position: int


@dataclass(frozen=True, slots=True)
class Create(Statement):
    """CREATE STREAM or TABLE over a topic; `columns` are empty when there are none."""

    kind: RelationKind
    name: str
    properties: Mapping[str, str]
    or_replace: bool
    if_not_exists: bool
    columns: tuple[Column, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateAs(Statement):
    """CREATE … AS SELECT: a relation, and the query that fills it for ever."""

    kind: RelationKind
    name: str
    properties: Mapping[str, str]
    or_replace: bool
    if_not_exists: bool
    query: Query


@dataclass(frozen=True, slots=True)
class InsertSelect(Statement):
    """A query that fills a stream that exists already, beside others."""

    target: str
    query: Query


@dataclass(frozen=True, slots=True)
class InsertValues(Statement):
    """Rows written out; `columns` are empty when the statement names none."""

    target: str
    columns: tuple[str, ...]
    rows: tuple[tuple[exp.Expr, ...], ...]


@dataclass(frozen=True, slots=True)
class Select(Statement):
    """A query for the person who asks: bounded, or with EMIT a push query."""

    query: Query


@dataclass(frozen=True, slots=True)
class Show(Statement):
    what: str
    extended: bool = False


@dataclass(frozen=True, slots=True)
class Describe(Statement):
    name: str
    extended: bool = False


@dataclass(frozen=True, slots=True)
class Print(Statement):
    """The records of a topic as they are."""

    topic: str
    from_beginning: bool = False
    interval: int = 1
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Explain(Statement):
    """The plan of a statement, or of a query that runs."""

    query_id: str | None = None
    statement: Statement | None = None


@dataclass(frozen=True, slots=True)
class Terminate(Statement):
    """Stop a query; `query_id` None means all."""

    query_id: str | None


@dataclass(frozen=True, slots=True)
class Drop(Statement):
    kind: RelationKind
    name: str
    if_exists: bool = False
    delete_topic: bool = False


@dataclass(frozen=True, slots=True)
class SetProperty(Statement):
    """SET; UNSET has the value None."""

    name: str
    value: str | None
