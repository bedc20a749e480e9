"""Expressions as Spark reads them: names resolved, ksqlDB's functions in Spark's words."""

from collections.abc import Callable

from sqlglot import exp

from barnabas.streams.sql.language.dialect import BarnabasSql
from barnabas.streams.sql.language.errors import SqlError, UnsupportedError
from barnabas.streams.sql.translation.functions import (
    TIMES_AND_DICE,
    is_aggregate,
    spark_function,
)
from barnabas.streams.sql.translation.scope import at_node

Resolve = Callable[[exp.Column], str]
ARRIVAL = "struct(_offset, _timestamp)"
"""Orders the rows of a group as they came: by offset, and where there is none, by time."""


def spark_text(tree: exp.Expr, resolve: Resolve, order: str = ARRIVAL) -> str:
    """The Spark text of an expression; `resolve` gives the text of a column."""

    def replaced(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            return exp.Var(this=resolve(node))
        made = spark_function(node, order, lambda part: spark_text(part, resolve, order))
        return made if made is not None else node

    return str(_transformed(tree, replaced).sql(dialect=BarnabasSql))


def _transformed(tree: exp.Expr, replaced: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """Replace from the top down; what was put in is not looked at again."""
    try:
        made = replaced(tree)
    except SqlError as error:
        raise (error if error.position is not None else at_node(error, tree)) from None
    if made is not tree:
        return made
    copy = tree.copy()
    for name, value in list(copy.args.items()):
        if isinstance(value, exp.Expr):
            copy.set(name, _transformed(value, replaced))
        elif isinstance(value, list):
            items = [
                _transformed(item, replaced) if isinstance(item, exp.Expr) else item
                for item in value
            ]
            copy.set(name, items)
    return copy


def plain_text(tree: exp.Expr) -> str:
    """An expression as it was written, in one form: equal texts are equal expressions."""
    return str(tree.sql(dialect=BarnabasSql)).lower()


def has_aggregate(tree: exp.Expr) -> bool:
    return any(is_aggregate(node) for node in tree.walk())


def check_replayable(tree: exp.Expr) -> None:
    """Refuse dice in a query that writes: a replayed batch would differ from the first one."""
    for node in tree.walk():
        name = str(node.this) if isinstance(node, exp.Anonymous) else node.key
        if name.upper() in TIMES_AND_DICE:
            reason = (
                f"{name.upper()} gives another value each time: a batch that is replayed after a "
                "crash would not be the same. Let the producer of the topic set the value"
            )
            raise at_node(UnsupportedError(reason), node)


def output_name(item: exp.Expr, number: int) -> str:
    """The name of a column of the result: its alias, its own name, or KSQL_COL_n."""
    if item.alias:
        return str(item.alias)
    if isinstance(item, exp.Column | exp.Dot):
        return str(item.name)
    return f"KSQL_COL_{number}"


def without_alias(item: exp.Expr) -> exp.Expr:
    return item.this if isinstance(item, exp.Alias) else item
