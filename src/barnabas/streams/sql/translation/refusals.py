"""What a streaming plan cannot do, with the reason and the way out."""

from collections.abc import Callable

from sqlglot import exp

from barnabas.streams.sql.language.errors import SqlError, UnsupportedError
from barnabas.streams.sql.language.statements import Emit, Query
from barnabas.streams.sql.translation.scope import at_node

BOUNDED = "leave out EMIT CHANGES to query what is there now"


def streaming_select(query: Query) -> exp.Select:
    """The tree of a query that can run for ever; UnsupportedError says why it cannot."""
    tree = query.tree
    if isinstance(tree, exp.SetOperation):
        raise UnsupportedError(
            "UNION cannot run as a stream: write one CREATE STREAM … AS SELECT and an "
            f"INSERT INTO … SELECT for each of the others; or {BOUNDED}"
        )
    if not isinstance(tree, exp.Select):
        raise UnsupportedError(f"this query cannot run as a stream: {BOUNDED}")
    for clause, reason in _CLAUSES.items():
        found = tree.args.get(clause)
        if found:
            node = found[0] if isinstance(found, list) else found
            raise _at(UnsupportedError(reason), node)
    _check_parts(tree)
    _check_emit(query, tree)
    return tree


_CLAUSES = {
    "order": f"a stream has no end, so it cannot be sorted by ORDER BY: {BOUNDED}",
    "distinct": "DISTINCT would remember every row for ever: use GROUP BY, with a window if rows "
    "may be forgotten",
    "with_": "a WITH clause cannot run as a stream: create a stream for it, and select from that",
    "windows": "named windows cannot run as a stream: WINDOW TUMBLING, HOPPING and SESSION can",
    "qualify": f"QUALIFY cannot run as a stream: {BOUNDED}",
    "laterals": "LATERAL VIEW cannot run as a stream: use EXPLODE in the SELECT",
    "offset": f"OFFSET cannot run as a stream: {BOUNDED}",
}


def _check_parts(tree: exp.Select) -> None:
    for node in tree.walk():
        for kind, reason in _PARTS:
            if isinstance(node, kind) and node is not tree:
                raise _at(UnsupportedError(reason), node)


_PARTS: tuple[tuple[type[exp.Expr], str], ...] = (
    (exp.Window, f"OVER (…) needs all rows at once, and a stream has no end: {BOUNDED}"),
    (exp.Subquery, "a query inside of a query cannot run as a stream: create a stream for it"),
    (exp.Select, "a query inside of a query cannot run as a stream: create a stream for it"),
)


def _check_emit(query: Query, tree: exp.Select) -> None:
    if query.emit is Emit.FINAL and query.window is None:
        raise UnsupportedError(
            "EMIT FINAL tells a result when its window is over, and there is no window: add "
            "WINDOW TUMBLING (…), or use EMIT CHANGES"
        )
    if query.window is not None and tree.args.get("group") is None:
        raise UnsupportedError("WINDOW cuts groups by time, and there is no GROUP BY")


def located(query: Query, work: Callable[[], object]) -> None:
    """Run a check; its errors get the query's text and, if they have none, its place."""
    try:
        work()
    except SqlError as error:
        raise place(error, query) from None


def place(error: SqlError, query: Query) -> SqlError:
    """The error with the text that was typed; at the query's beginning if it knows no better."""
    if error.text is not None:
        return error
    position = query.position if error.position is None else error.position
    return type(error)(error.reason, query.text, position)


def _at(error: SqlError, node: exp.Expr) -> SqlError:
    return at_node(error, node)
