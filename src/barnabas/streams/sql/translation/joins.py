"""FROM and JOIN: relations brought together, two at a time, from left to right."""

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from barnabas.streams.nodes import (
    JoinKind,
    Node,
    Rekey,
    StreamJoin,
    StreamTableJoin,
    TableJoin,
    Where,
)
from barnabas.streams.sql.language.errors import SqlError, UnsupportedError
from barnabas.streams.sql.language.statements import Query, Within
from barnabas.streams.sql.translation.expressions import spark_text
from barnabas.streams.sql.translation.join_sides import LEFT, RIGHT, Equality, Sides, conjunction
from barnabas.streams.sql.translation.keys import KeyCodec
from barnabas.streams.sql.translation.rows import Relations, Rows, is_key_column, rows_of
from barnabas.streams.sql.translation.scope import at_node

_KINDS: Mapping[str, JoinKind] = {"": "inner", "LEFT": "left", "RIGHT": "right", "FULL": "full"}
DEFAULT_GRACE_MS = 86_400_000
"""ksqlDB's: a day."""


def read_from(tree: exp.Select, query: Query, relations: Relations) -> Rows:
    """The rows of a query's FROM clause."""
    begin = tree.args.get("from_")
    if begin is None:
        raise UnsupportedError("a streaming query needs a FROM")
    rows = rows_of(begin.this, relations)
    for number, join in enumerate(tree.args.get("joins") or ()):
        within = query.withins[number] if number < len(query.withins) else None
        rows = _joined(rows, rows_of(join.this, relations), join, within)
    return rows


def _joined(left: Rows, right: Rows, join: exp.Join, within: Within | None) -> Rows:
    kind = _KINDS.get(str(join.side or "").upper())
    if kind is None or str(join.kind or "").upper() in ("CROSS", "SEMI", "ANTI"):
        raise at_node(UnsupportedError("streams join by INNER, LEFT, RIGHT or FULL JOIN"), join)
    on = join.args.get("on")
    if on is None:
        raise at_node(SqlError("JOIN needs ON, with an equality of columns of both sides"), join)
    _check_aliases(left, right, join)
    sides = Sides(left, right, kind, on, within)
    if left.is_table:
        return _tables(sides) if right.is_table else _refused_table_stream(sides)
    return _stream_with_table(sides) if right.is_table else _streams(sides)


def _check_aliases(left: Rows, right: Rows, join: exp.Join) -> None:
    alias = right.scope.members[0].alias
    if left.scope.member(alias) is not None:
        raise at_node(SqlError(f"{alias!r} is there twice: give one an alias"), join)


def _streams(sides: Sides) -> Rows:
    if sides.within is None:
        raise at_node(
            UnsupportedError(
                "two streams join WITHIN a time, or every row would be kept for ever: "
                "JOIN … WITHIN 1 HOUR ON …"
            ),
            sides.on,
        )
    equal = sides.equality()
    grace = sides.within.grace_ms
    node = StreamJoin(
        _by_text(sides.left, equal[0]),
        _by_text(sides.right, equal[1]),
        sides.kind,
        sides.columns(),
        (LEFT, RIGHT),
        before_ms=sides.within.before_ms,
        after_ms=sides.within.after_ms,
        grace_ms=DEFAULT_GRACE_MS if grace is None else grace,
    )
    rows = sides.keyed(node, equal)
    return replace(rows, node=_with_rest(sides, rows, equal))


def _with_rest(sides: Sides, rows: Rows, equal: Equality) -> Node:
    """What ON asks for beside the equality: of an inner join, a condition after it."""
    rest = [
        part
        for part in conjunction(sides.on)
        if part.this is not equal[0] and part.this is not equal[1]
    ]
    if not rest:
        return rows.node
    if sides.kind != "inner":
        raise at_node(
            UnsupportedError(
                "an outer join of streams goes by one equality: filter the sides by streams "
                "of their own first"
            ),
            rest[0],
        )
    return Where(rows.node, " AND ".join(spark_text(p, rows.scope.resolve) for p in rest))


def _stream_with_table(sides: Sides) -> Rows:
    if sides.kind not in ("inner", "left"):
        raise at_node(
            UnsupportedError(
                "a stream joins a table by INNER or LEFT JOIN: each of its rows looks the table up"
            ),
            sides.on,
        )
    sides.no_within("a stream looks a table up as it is at that moment")
    equal = sides.equality()
    expression = sides.by_key(equal)
    looked_up = spark_text(expression, sides.left.scope.resolve)
    # The key of the result is what was looked up: with it as the stream's key, both sides have
    # a key of one type.
    node = StreamTableJoin(
        Rekey(sides.left.node, sides.codec().encoded([looked_up])),
        sides.right.node,
        sides.kind,
        sides.columns(),
        (LEFT, RIGHT),
    )
    return sides.keyed(node, equal)


def _tables(sides: Sides) -> Rows:
    sides.no_within("two tables join as they are at that moment")
    equal = sides.equality()
    expression = sides.by_key(equal)
    if is_key_column(expression, sides.left):
        return _tables_by_key(sides, equal)
    if sides.kind not in ("inner", "left"):
        raise at_node(
            UnsupportedError("tables join by a foreign key with INNER or LEFT JOIN only"),
            sides.on,
        )
    looked_up = sides.codec().encoded([spark_text(expression, sides.left.scope.resolve)])
    return sides.rows(_table_join(sides, looked_up), sides.left.key)


def _tables_by_key(sides: Sides, equal: Equality) -> Rows:
    relations = [side.scope.members[0].relation for side in (sides.left, sides.right)]
    if len({KeyCodec(relation).key_type for relation in relations}) > 1:
        raise at_node(
            UnsupportedError("the keys of these tables are written in different formats"),
            sides.on,
        )
    return sides.rows(_table_join(sides, None), sides.names(equal), equal)


def _table_join(sides: Sides, on: str | None) -> TableJoin:
    names = (LEFT, RIGHT)
    return TableJoin(sides.left.node, sides.right.node, sides.kind, sides.columns(), names, on)


def _refused_table_stream(sides: Sides) -> Rows:
    right = sides.right.scope.members[0].alias
    raise at_node(
        UnsupportedError(f"a table cannot look up a stream: put the stream {right} first, in FROM"),
        sides.on,
    )


def _by_text(rows: Rows, tree: exp.Expr) -> Node:
    """The rows with the text of an expression as their key: a key of one type on both sides."""
    return Rekey(rows.node, f"cast({spark_text(tree, rows.scope.resolve)} AS STRING)")
