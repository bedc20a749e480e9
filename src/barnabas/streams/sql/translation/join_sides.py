"""The two sides of a join: what ON compares, and what their columns are called.

While a join is made, its sides are called `l` and `r`. Afterwards every column of a side is there
as `alias__column`, so that names of the two never meet.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from barnabas.streams.nodes import JoinKind, Named, Node
from barnabas.streams.schema import quoted
from barnabas.streams.sql.language.errors import SqlError, UnsupportedError
from barnabas.streams.sql.language.statements import Within
from barnabas.streams.sql.translation.keys import KeyCodec
from barnabas.streams.sql.translation.rows import Rows
from barnabas.streams.sql.translation.scope import Member, Scope, at_node

LEFT, RIGHT = "l", "r"
Equality = tuple[exp.Expr, exp.Expr]
"""An expression of the left side, and one of the right."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Two sides on their way to one."""

    left: Rows
    right: Rows
    kind: JoinKind
    on: exp.Expr
    within: Within | None

    def equality(self) -> Equality:
        """The first equality of an expression of the left side and one of the right."""
        for part in conjunction(self.on):
            if isinstance(part, exp.EQ):
                sides = (part.this, part.expression)
                if self._is_of(sides[0], self.left) and self._is_of(sides[1], self.right):
                    return sides
                if self._is_of(sides[1], self.left) and self._is_of(sides[0], self.right):
                    return sides[1], sides[0]
        self._check_names()
        raise at_node(
            UnsupportedError("ON needs an equality between columns of the two sides"), self.on
        )

    def _check_names(self) -> None:
        both = Scope((*self.left.scope.members, *self.right.scope.members))
        for column in self.on.find_all(exp.Column):
            both.resolve(column)

    @staticmethod
    def _is_of(tree: exp.Expr, rows: Rows) -> bool:
        columns = list(tree.find_all(exp.Column))
        return bool(columns) and all(rows.scope.owner(c) is not None for c in columns)

    def by_key(self, equal: Equality) -> exp.Expr:
        """The left's expression, when the right's is the key of its table and nothing else is
        asked for."""
        member = self.right.scope.members[0]
        keys = [column.name for column in member.relation.key_columns]
        owner = self.right.scope.owner(equal[1]) if isinstance(equal[1], exp.Column) else None
        if len(keys) != 1 or owner is None or owner[1].lower() != keys[0].lower():
            known = ", ".join(keys)
            raise at_node(
                UnsupportedError(
                    f"a table is looked up by its key ({known}): to look {member.alias} up by "
                    "another column, create a table with that key"
                ),
                self.on,
            )
        if len(list(conjunction(self.on))) > 1:
            raise at_node(
                UnsupportedError(
                    "a table is looked up by its key alone: move the rest of ON to WHERE"
                ),
                self.on,
            )
        if member.relation.window is not None:
            raise at_node(
                UnsupportedError("a table of windows cannot be looked up by its key alone"), self.on
            )
        return equal[0]

    def keyed(self, node: Node, equal: Equality) -> Rows:
        """The rows of a stream, with the value that both sides share as their key."""
        key = self.names(equal)
        rows = self.rows(node, key, equal)
        if rows.shared:
            texts = ", ".join(rows.scope.resolve(column) for column in rows.shared)
            return replace(rows, key_text=f"coalesce({texts})")
        if not key:
            return rows
        member = rows.scope.member(key[0][0])
        assert member is not None
        return replace(rows, key_text=member.text(key[0][1]))

    def names(self, equal: Equality) -> tuple[tuple[str, str], ...]:
        """The columns of an equality that are never null by the join, as (alias, column)."""
        sides = {
            "inner": (self.left, self.right),
            "left": (self.left,),
            "right": (self.right,),
            "full": (),
        }[self.kind]
        found = []
        for tree, rows in zip(equal, (self.left, self.right), strict=True):
            owner = rows.scope.owner(tree) if isinstance(tree, exp.Column) else None
            if owner is not None and rows in sides:
                found.append((owner[0].alias.lower(), owner[1].lower()))
        return tuple(found)

    def rows(
        self, node: Node, key: tuple[tuple[str, str], ...] | None, equal: Equality | None = None
    ) -> Rows:
        """The joined rows; `equal` is what was compared, when that is their key."""
        members = tuple(
            Member(
                m.alias,
                m.relation,
                {name: quoted(f"{m.alias.lower()}__{name}") for name in m.columns},
            )
            for m in (*self.left.scope.members, *self.right.scope.members)
        )
        return Rows(node, Scope(members), key, shared=self._shared(equal))

    def _shared(self, equal: Equality | None) -> tuple[exp.Column, ...]:
        if self.kind != "full" or equal is None:
            return ()
        columns = tuple(tree for tree in equal if isinstance(tree, exp.Column))
        return columns if len(columns) == len(equal) else ()

    def columns(self) -> Named:
        return tuple(
            (f"{m.alias.lower()}__{name}", text)
            for m in self._sides().members
            for name, text in m.columns.items()
        )

    def _sides(self) -> Scope:
        """The names of both sides while they are being joined."""
        return Scope(
            tuple(
                Member(m.alias, m.relation, _prefixed(m.columns, side), f"{side}.")
                for side, rows in ((LEFT, self.left), (RIGHT, self.right))
                for m in rows.scope.members
            )
        )

    def codec(self) -> KeyCodec:
        return KeyCodec(self.right.scope.members[0].relation)

    def no_within(self, reason: str) -> None:
        if self.within is not None:
            raise at_node(SqlError(f"WITHIN is for two streams: {reason}"), self.on)


def _prefixed(columns: Mapping[str, str], side: str) -> dict[str, str]:
    return {name: f"{side}.{text}" for name, text in columns.items()}


def conjunction(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The parts that AND holds together."""
    if isinstance(tree, exp.And):
        yield from conjunction(tree.this)
        yield from conjunction(tree.expression)
    elif isinstance(tree, exp.Paren):
        yield from conjunction(tree.this)
    else:
        yield tree
