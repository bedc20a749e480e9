"""Statements as frozen values.

Every statement has its own text and the position of that text in the input. Names keep their case;
they are compared without regard to case.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from sqlglot import exp


class RelationKind(Enum):
    """A stream is a log of events; a table has the newest value of each key."""

    STREAM = "STREAM"
    TABLE = "TABLE"


class KeyRole(Enum):
    """Whether a column is in the record's key or in its value."""

    NONE = ""
    KEY = "KEY"
    PRIMARY = "PRIMARY KEY"


@dataclass(frozen=True, slots=True)
class Column:
    """A declared column; `type` is Spark's text of its type."""

    name: str
    type: str
    role: KeyRole = KeyRole.NONE


class WindowKind(Enum):
    TUMBLING = "TUMBLING"
    HOPPING = "HOPPING"
    SESSION = "SESSION"


@dataclass(frozen=True, slots=True)
class WindowClause:
    """The WINDOW clause, in milliseconds. `advance_ms` is of hopping windows; for a session
    `size_ms` is the gap that ends it.
    """

    kind: WindowKind
    size_ms: int
    advance_ms: int | None = None
    grace_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Within:
    """The WITHIN clause: the largest time between two rows of joined streams."""

    before_ms: int
    after_ms: int
    grace_ms: int | None = None


class EmitClause(Enum):
    """The EMIT clause. CHANGES: rows as they change. FINAL: each window once, when it is closed."""

    CHANGES = "CHANGES"
    FINAL = "FINAL"


@dataclass(frozen=True, slots=True)
class Query:
    """A SELECT: the tree of sqlglot, and the clauses that only streams have.

    `withins` has one entry for each join, in their order.
    """

    text: str = field(repr=False)
    position: int
    """The position of the query in `text`, the complete input; the positions of expressions are
    offsets into it."""
    tree: exp.Query
    window: WindowClause | None = None
    withins: tuple[Within | None, ...] = ()
    partition_by: tuple[exp.Expr, ...] = ()
    emit: EmitClause | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """Base class of statements: the text, and its position in the input."""

    text: str
    position: int


@dataclass(frozen=True, slots=True)
class Create(Statement):
    """CREATE STREAM or TABLE over a topic; `columns` can be empty."""

    kind: RelationKind
    name: str
    properties: Mapping[str, str]
    or_replace: bool
    if_not_exists: bool
    columns: tuple[Column, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateAs(Statement):
    """CREATE … AS SELECT: a relation, and the query that writes it."""

    kind: RelationKind
    name: str
    properties: Mapping[str, str]
    or_replace: bool
    if_not_exists: bool
    query: Query


@dataclass(frozen=True, slots=True)
class InsertSelect(Statement):
    """INSERT INTO … SELECT: a query that writes to an existing stream."""

    target: str
    query: Query


@dataclass(frozen=True, slots=True)
class InsertValues(Statement):
    """INSERT INTO … VALUES; `columns` is empty if the statement has no column list."""

    target: str
    columns: tuple[str, ...]
    rows: tuple[tuple[exp.Expr, ...], ...]


@dataclass(frozen=True, slots=True)
class SelectStatement(Statement):
    """SELECT: a bounded query, or with EMIT a push query."""

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
    """PRINT: the records of a topic."""

    topic: str
    from_beginning: bool = False
    interval: int = 1
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Explain(Statement):
    """EXPLAIN: the plan of a statement or of a running query."""

    query_id: str | None = None
    statement: Statement | None = None


@dataclass(frozen=True, slots=True)
class Terminate(Statement):
    """TERMINATE: ends a query; `query_id` None means all."""

    query_id: str | None


@dataclass(frozen=True, slots=True)
class DropStatement(Statement):
    kind: RelationKind
    name: str
    if_exists: bool = False
    delete_topic: bool = False


@dataclass(frozen=True, slots=True)
class SetProperty(Statement):
    """SET; UNSET has the value None."""

    name: str
    value: str | None
