"""A streaming query as a plan: rows, the columns made of them, and their key.

`plan_query` is pure. The plan becomes a definition in one of two ways: `shown` has all columns, for
a push query; `written` puts them into the records of a relation.
"""

from dataclasses import dataclass, replace

from sqlglot import exp

from barnabas.streams.nodes import Named, Node, Select, TopicSink, Where
from barnabas.streams.sql.catalog.relations import Relation
from barnabas.streams.sql.language.errors import SqlError, UnsupportedError
from barnabas.streams.sql.language.statements import Query, Window
from barnabas.streams.sql.translation.aggregation import (
    WINDOW_COLUMNS,
    Grouping,
    check_groups,
    group_names,
)
from barnabas.streams.sql.translation.expressions import (
    has_aggregate,
    output_name,
    plain_text,
    spark_text,
    without_alias,
)
from barnabas.streams.sql.translation.joins import read_from
from barnabas.streams.sql.translation.records import sink
from barnabas.streams.sql.translation.refusals import place, streaming_select
from barnabas.streams.sql.translation.rows import (
    ROWKEY,
    Relations,
    Rows,
    is_key_column,
    is_shared_key,
    with_shared_key,
)
from barnabas.streams.sql.translation.scope import at_node

Items = list[tuple[str, exp.Expr]]


@dataclass(frozen=True, slots=True)
class StreamingPlan:
    """What a query makes. `columns` are expressions over the rows of `node`.

    `key` names the columns that are the record's key; `key_texts` has their expressions where the
    key is a new one, and is None where the rows keep the key they came with.
    """

    node: Node
    columns: Named
    key: tuple[str, ...]
    key_texts: tuple[str, ...] | None
    sources: tuple[Relation, ...]
    window: Window | None = None
    limit: int | None = None

    grouped: bool = False

    @property
    def is_table(self) -> bool:
        """Whether there is one row for each key. Final results are told once, so the definitions
        call them a stream; they make a table all the same."""
        return self.grouped or self.node.is_table

    @property
    def all_columns(self) -> Named:
        """The columns, and the window's bounds where there is a window."""
        if self.window is None:
            return self.columns
        taken = {name.lower() for name, _ in self.columns}
        bounds = [
            (name.upper(), text) for name, text in WINDOW_COLUMNS.items() if name not in taken
        ]
        return (*self.columns, *bounds)

    def shown(self) -> Node:
        """Rows with the columns that the query asked for."""
        return Select(self.node, self.columns)

    def full(self) -> Node:
        """Rows with everything that a relation made of them stores."""
        return Select(self.node, self.all_columns)

    def written(self, relation: Relation) -> TopicSink:
        """The rows into the topic of a relation; columns go by their place."""
        texts = [text for _, text in self.all_columns]
        values = {column.name: text for column, text in zip(relation.columns, texts, strict=True)}
        return sink(self.node, values, self.key_texts, relation)


def plan_query(query: Query, relations: Relations) -> StreamingPlan:
    """The plan of a query that runs for ever; SqlError with the place otherwise."""
    try:
        return _plan(query, relations)
    except SqlError as error:
        raise place(error, query) from None


def _plan(query: Query, relations: Relations) -> StreamingPlan:
    tree = streaming_select(query)
    rows = read_from(tree, query, relations)
    condition = tree.args.get("where")
    if condition is not None:
        if has_aggregate(condition.this):
            raise at_node(SqlError("WHERE sees single rows: put this into HAVING"), condition.this)
        text = spark_text(condition.this, rows.scope.resolve)
        rows = replace(rows, node=Where(rows.node, text))
    items = _items(tree, rows)
    if tree.args.get("group") is not None:
        return _grouped(query, tree, rows, items)
    return _plain(query, tree, rows, items)


def _plain(query: Query, tree: exp.Select, rows: Rows, items: Items) -> StreamingPlan:
    _check_no_aggregates(tree, items)
    resolve = rows.scope.resolve
    columns = tuple((name, spark_text(without_alias(item), resolve)) for name, item in items)
    key, key_texts = _key_of(query, rows, items)
    return StreamingPlan(rows.node, columns, key, key_texts, _sources(rows), limit=_limit(tree))


def _check_no_aggregates(tree: exp.Select, items: Items) -> None:
    found = next((item for _, item in items if has_aggregate(item)), None)
    having = tree.args.get("having")
    if found is None and having is not None:
        found = having.this
    if found is not None:
        reason = (
            "an aggregate needs GROUP BY in a streaming query; for one total of everything, "
            "GROUP BY a constant such as 'all'"
        )
        raise at_node(UnsupportedError(reason), found)


def _key_of(
    query: Query, rows: Rows, items: Items
) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """The names of the key columns in the result, and the expressions of a new key."""
    if query.partition_by:
        return _partitioned(query, rows, items)
    names = _shown_keys(rows, items)
    if len(rows.scope.members) == 1:
        return _kept(rows, names), None
    if rows.is_table and not names:
        raise SqlError(f"a table needs its key: select {_written_keys(rows)} too")
    return tuple(names[:1]), None if rows.key_text is None else (rows.key_text,)


def _shown_keys(rows: Rows, items: Items) -> list[str]:
    """The names under which columns of the key are in the result."""
    return [
        name
        for name, item in items
        if is_key_column(bare := without_alias(item), rows) or is_shared_key(bare, rows)
    ]


def _kept(rows: Rows, names: list[str]) -> tuple[str, ...]:
    """The key stays; its columns are known only if all of them are selected."""
    complete = bool(rows.key) and len(names) >= len(rows.key or ())
    if rows.is_table and not complete:
        raise SqlError(f"a table needs its key: select {_written_keys(rows)} too")
    return tuple(names[: len(rows.key or ())]) if complete else ()


def _written_keys(rows: Rows) -> str:
    if rows.shared:
        return ROWKEY
    return " or ".join(f"{alias}.{column}" for alias, column in rows.key or ())


def _partitioned(query: Query, rows: Rows, items: Items) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if rows.is_table:
        raise UnsupportedError("a table cannot be partitioned anew: its key says what a row is")
    shown = {plain_text(without_alias(item)): name for name, item in reversed(items)}
    aliases = {name.lower(): without_alias(item) for name, item in items}
    names, texts = [], []
    for tree in query.partition_by:
        known = rows.scope.owner(tree) if isinstance(tree, exp.Column) else None
        meant = tree
        if isinstance(tree, exp.Column) and known is None and tree.name.lower() in aliases:
            meant = aliases[tree.name.lower()]
        texts.append(spark_text(meant, rows.scope.resolve))
        names.append(shown.get(plain_text(meant)))
    if None in names:
        return (), tuple(texts)
    return tuple(name for name in names if name is not None), tuple(texts)


def _grouped(query: Query, tree: exp.Select, rows: Rows, items: Items) -> StreamingPlan:
    if query.partition_by:
        raise UnsupportedError("PARTITION BY and GROUP BY exclude each other: groups are the key")
    groups = [_meant(group, items, rows) for group in tree.args["group"].expressions]
    check_groups(groups, rows, query.window)
    grouping = Grouping(rows, query)
    names = group_names(groups, items, rows)
    for group, name in zip(groups, names, strict=True):
        grouping.add_group(group, name)
    columns = tuple((name, grouping.text(without_alias(item))) for name, item in items)
    having = tree.args.get("having")
    condition = None if having is None else grouping.text(having.this)
    shown = {name.lower() for name, _ in columns}
    key = tuple(name for name in names if name.lower() in shown)
    return StreamingPlan(
        grouping.node(condition),
        columns,
        key if len(key) == len(names) else (),
        grouping.key_texts(),
        _sources(rows),
        query.window,
        _limit(tree),
        grouped=True,
    )


def _meant(group: exp.Expr, items: Items, rows: Rows) -> exp.Expr:
    """GROUP BY may name a column of the result, where no column of the rows has that name."""
    if isinstance(group, exp.Column) and rows.scope.owner(group) is None and not group.table:
        for name, item in items:
            if name.lower() == group.name.lower() and not has_aggregate(item):
                return without_alias(item)
    return group


def _items(tree: exp.Select, rows: Rows) -> Items:
    """The columns of the result with their names; stars spread out."""
    found: Items = []
    for item in tree.expressions:
        name = output_name(item, len(found))
        found.extend(_spread(item, rows) or [(name, with_shared_key(item, rows))])
    seen: set[str] = set()
    for name, item in found:
        if name.lower() in seen:
            raise at_node(SqlError(f"two columns are called {name!r}: give one an alias"), item)
        seen.add(name.lower())
    return found


def _spread(item: exp.Expr, rows: Rows) -> Items:
    """`*` and `alias.*`. In a join the names are made of alias and column, as in ksqlDB."""
    star = item if isinstance(item, exp.Star) else item.this
    if not isinstance(star, exp.Star) or not isinstance(item, exp.Star | exp.Column):
        return []
    members = rows.scope.members
    if isinstance(item, exp.Column):
        member = rows.scope.member(item.table)
        if member is None:
            raise at_node(SqlError(f"no stream or table {item.table!r} in FROM"), item)
        members = (member,)
    joined = len(rows.scope.members) > 1
    return [
        (f"{m.alias}_{c.name}" if joined else c.name, exp.column(c.name, m.alias, quoted=True))
        for m in members
        for c in m.relation.columns
    ]


def _limit(tree: exp.Select) -> int | None:
    limit = tree.args.get("limit")
    if limit is None:
        return None
    number = limit.expression
    if not isinstance(number, exp.Literal) or number.is_string:
        raise at_node(SqlError("LIMIT takes a number"), limit)
    return int(number.this)


def _sources(rows: Rows) -> tuple[Relation, ...]:
    return tuple(member.relation for member in rows.scope.members)
