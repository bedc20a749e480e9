"""Nodes with two sides. Pure."""

from dataclasses import dataclass
from typing import Literal

from barnabas.model.errors import ConfigError
from barnabas.streams.nodes.node import Node
from barnabas.streams.nodes.stateless import Named
from barnabas.streams.nodes.topics import Expression

JoinKind = Literal["inner", "left", "right", "full"]


@dataclass(frozen=True, slots=True, eq=False)
class Join(Node):
    """What the three joins share. Sides are known in expressions by `aliases`: "o.user".

    `columns` None: the left side's columns, then those of the right whose names are free.
    """

    left: Node
    right: Node
    kind: JoinKind = "inner"
    columns: Named | None = None
    aliases: tuple[str, str] = ("left", "right")

    def __post_init__(self) -> None:
        if self.aliases[0] == self.aliases[1]:
            raise ConfigError(f"both sides of a join are called {self.aliases[0]!r}")

    @property
    def parents(self) -> tuple[Node, ...]:
        return (self.left, self.right)


@dataclass(frozen=True, slots=True, eq=False)
class StreamJoin(Join):
    """Two streams: rows for which `on` holds and whose times are near enough.

    The right row's time is in [left's - before_ms, left's + after_ms]. `on` needs an equality; None
    means equal keys. Outer rows are told when the grace is over. The result has the left's key,
    or the right's where there is no left, and the later time.
    """

    on: Expression | None = None
    before_ms: int = 0
    after_ms: int = 0
    grace_ms: int = 0

    @property
    def is_table(self) -> bool:
        return False

    @property
    def label(self) -> str:
        return f"{self.kind} join of streams within -{self.before_ms}/+{self.after_ms} ms"


@dataclass(frozen=True, slots=True, eq=False)
class StreamTableJoin(Join):
    """Each stream row with the table's row of that moment: inner or left.

    `on` is an expression over the stream's row, compared with the table's key; None means the
    stream's key. Within a micro-batch a row meets the table as it was at the row's time: changes
    of a key count in the order of their offsets, before rows of the same time.
    """

    on: Expression | None = None

    @property
    def is_table(self) -> bool:
        return False

    @property
    def label(self) -> str:
        return f"{self.kind} join with table"


@dataclass(frozen=True, slots=True, eq=False)
class TableJoin(Join):
    """Two tables by key or, with `on`, the left's foreign key to the right's key (inner, left)."""

    on: Expression | None = None

    @property
    def is_table(self) -> bool:
        return True

    @property
    def label(self) -> str:
        by = f" by foreign key {self.on}" if self.on else ""
        return f"{self.kind} join of tables{by}"
