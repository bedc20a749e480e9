"""A SELECT over what is there now: all of Spark's SQL, with ksqlDB's functions in Spark's words.

Relations are views with their own columns and those that every row has (ROWTIME, ROWPARTITION,
ROWOFFSET). A star means the own columns only, so stars are spelled out.
"""

from collections.abc import Iterator, Mapping

from sqlglot import exp

from barnabas.streams.sql.catalog.relations import Relation, unknown_relation
from barnabas.streams.sql.language.dialect import BarnabasSql
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.statements import Query
from barnabas.streams.sql.translation.functions import spark_function
from barnabas.streams.sql.translation.refusals import place
from barnabas.streams.sql.translation.scope import at_node

ARRIVAL = "struct(ROWOFFSET, ROWTIME)"


def bounded_text(query: Query, relations: Mapping[str, Relation]) -> tuple[str, list[Relation]]:
    """Spark's text of a bounded query, and the relations that it reads.

    `relations` are by lower-case name.
    """
    try:
        return _bounded_text(query, relations)
    except SqlError as error:
        raise place(error, query) from None


def _bounded_text(query: Query, relations: Mapping[str, Relation]) -> tuple[str, list[Relation]]:
    if query.window is not None or any(query.withins) or query.partition_by:
        raise SqlError(
            "WINDOW, WITHIN and PARTITION BY are for queries that run on: add EMIT CHANGES. In a "
            "bounded query, GROUP BY window(timestamp_millis(ROWTIME), '1 minute') cuts by time"
        )
    tree = query.tree.copy()
    used = {node.name.lower(): _found(node, relations) for node in _tables(tree)}
    for select in tree.find_all(exp.Select):
        select.set(
            "expressions",
            [item for part in select.expressions for item in _spelled(part, select, used)],
        )
    for node in list(tree.walk()):
        made = spark_function(node, ARRIVAL, lambda part: str(part.sql(dialect=BarnabasSql)))
        if made is not None and node.parent is not None:
            node.replace(made)
    return str(tree.sql(dialect=BarnabasSql)), list(used.values())


def _tables(tree: exp.Expr) -> Iterator[exp.Table]:
    """Tables of the catalog: names that no WITH clause has made."""
    made = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for node in tree.find_all(exp.Table):
        if node.name and node.name.lower() not in made:
            yield node


def _found(node: exp.Table, relations: Mapping[str, Relation]) -> Relation:
    found = relations.get(node.name.lower())
    if found is None:
        known = [relation.name for relation in relations.values()]
        raise at_node(unknown_relation(node.name, known), node)
    return found


def _spelled(
    item: exp.Expr, select: exp.Select, used: Mapping[str, Relation]
) -> Iterator[exp.Expr]:
    """A star as the columns that it means; anything else as it is."""
    qualifier = item.table if isinstance(item, exp.Column) else ""
    star = item.this if isinstance(item, exp.Column) else item
    if not isinstance(star, exp.Star) or any(star.args.values()):
        yield item
        return
    for source in _from(select):
        alias = source.alias_or_name
        if qualifier and alias.lower() != qualifier.lower():
            continue
        relation = used.get(source.name.lower()) if isinstance(source, exp.Table) else None
        if relation is None:
            yield exp.Column(this=exp.Star(), table=exp.to_identifier(alias)) if alias else item
        else:
            for column in relation.columns:
                yield exp.column(column.name, alias, quoted=True)


def _from(select: exp.Select) -> Iterator[exp.Expr]:
    begin = select.args.get("from_")
    if begin is not None:
        yield begin.this
    for join in select.args.get("joins") or ():
        yield join.this
