"""Plans of streaming queries: rows, result columns and key. Pure.

A plan becomes a definition in one of two ways: `shown` has the selected columns, for a push query;
`written` encodes them as records of a relation.
"""

from dataclasses import dataclass, replace

from sqlglot import exp

from barnabas.streams.nodes import Filter, Named, Project, RowSink, TopologyNode
from barnabas.streams.sql.language.errors import SqlError, UnsupportedError
from barnabas.streams.sql.language.statements import EmitClause, Query, WindowClause
from barnabas.streams.sql.relations import Relation
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
from barnabas.streams.sql.translation.scope import (
    ROWKEY,
    QueryRows,
    Relations,
    at_node,
    at_query,
    is_key_column,
    is_shared_key,
    with_shared_key,
)

Items = list[tuple[str, exp.Expr]]


@dataclass(frozen=True, slots=True)
class StreamingPlan:
    """The plan of a query. `columns` are expressions over the rows of `node`.

    `key` has the names of the columns in the record's key; `key_texts` has their expressions if the
    key is new, and is None if the rows keep their key.
    """

    node: TopologyNode
    columns: Named
    key: tuple[str, ...]
    key_texts: tuple[str, ...] | None
    sources: tuple[Relation, ...]
    window: WindowClause | None = None
    limit: int | None = None

    grouped: bool = False

    @property
    def is_table(self) -> bool:
        """Whether there is one row for each key. Final results are a stream in the definitions,
        because they do not change, but SQL treats them as a table.
        """
        return self.grouped or self.node.is_table

    @property
    def all_columns(self) -> Named:
        """The columns, and the bounds of the window if there is one."""
        if self.window is None:
            return self.columns
        taken = {name.lower() for name, _ in self.columns}
        bounds = [
            (name.upper(), text) for name, text in WINDOW_COLUMNS.items() if name not in taken
        ]
        return (*self.columns, *bounds)

    def shown(self) -> TopologyNode:
        """Returns rows with the selected columns."""
        return Project(self.node, self.columns)

    def full(self) -> TopologyNode:
        """Returns rows with all columns that a relation stores."""
        return Project(self.node, self.all_columns)

    def written(self, relation: Relation) -> RowSink:
        """Returns the sink that writes the rows to the topic of a relation; columns match by
        position.
        """
        texts = [text for _, text in self.all_columns]
        values = {column.name: text for column, text in zip(relation.columns, texts, strict=True)}
        return sink(self.node, values, self.key_texts, relation)


def plan_query(query: Query, relations: Relations) -> StreamingPlan:
    """Returns the plan of a streaming query; SqlError has the position of an error."""
    try:
        return _plan(query, relations)
    except SqlError as error:
        raise at_query(error, query) from None


def _plan(query: Query, relations: Relations) -> StreamingPlan:
    tree = streaming_select(query)
    rows = read_from(tree, query, relations)
    condition = tree.args.get("where")
    if condition is not None:
        if has_aggregate(condition.this):
            raise at_node(SqlError("WHERE cannot contain aggregates: use HAVING"), condition.this)
        text = spark_text(condition.this, rows.scope.resolve)
        rows = replace(rows, node=Filter(rows.node, text))
    items = _items(tree, rows)
    if tree.args.get("group") is not None:
        return _grouped(query, tree, rows, items)
    return _plain(query, tree, rows, items)


def _plain(query: Query, tree: exp.Select, rows: QueryRows, items: Items) -> StreamingPlan:
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
            "an aggregate needs GROUP BY in a streaming query; for a total over all rows, "
            "GROUP BY a constant such as 'all'"
        )
        raise at_node(UnsupportedError(reason), found)


def _key_of(
    query: Query, rows: QueryRows, items: Items
) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """Returns the names of the key columns in the result, and the expressions of a new key."""
    if query.partition_by:
        return _partitioned(query, rows, items)
    names = _shown_keys(rows, items)
    if len(rows.scope.members) == 1:
        return _kept(rows, names), None
    if rows.is_table and not names:
        raise SqlError(f"a table needs its key: select {_written_keys(rows)} too")
    return tuple(names[:1]), None if rows.key_text is None else (rows.key_text,)


def _shown_keys(rows: QueryRows, items: Items) -> list[str]:
    """Returns the result columns that show columns of the key."""
    return [
        name
        for name, item in items
        if is_key_column(bare := without_alias(item), rows) or is_shared_key(bare, rows)
    ]


def _kept(rows: QueryRows, names: list[str]) -> tuple[str, ...]:
    """Returns the names of a kept key; its columns are known only if all of them are selected."""
    complete = bool(rows.key) and len(names) >= len(rows.key or ())
    if rows.is_table and not complete:
        raise SqlError(f"a table needs its key: select {_written_keys(rows)} too")
    return tuple(names[: len(rows.key or ())]) if complete else ()


def _written_keys(rows: QueryRows) -> str:
    if rows.shared:
        return ROWKEY
    return " or ".join(f"{alias}.{column}" for alias, column in rows.key or ())


def _partitioned(
    query: Query, rows: QueryRows, items: Items
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if rows.is_table:
        raise UnsupportedError("a table cannot be repartitioned: its key identifies its rows")
    shown = {plain_text(without_alias(item)): name for name, item in reversed(items)}
    aliases = {name.lower(): without_alias(item) for name, item in items}
    names, texts = [], []
    for tree in query.partition_by:
        known = rows.scope.owner(tree) if isinstance(tree, exp.Column) else None
        resolved = tree
        if isinstance(tree, exp.Column) and known is None and tree.name.lower() in aliases:
            resolved = aliases[tree.name.lower()]
        texts.append(spark_text(resolved, rows.scope.resolve))
        names.append(shown.get(plain_text(resolved)))
    if None in names:
        return (), tuple(texts)
    return tuple(name for name in names if name is not None), tuple(texts)


def _grouped(query: Query, tree: exp.Select, rows: QueryRows, items: Items) -> StreamingPlan:
    if query.partition_by:
        raise UnsupportedError("PARTITION BY cannot be combined with GROUP BY, which sets the key")
    groups = [_resolved_alias(group, items, rows) for group in tree.args["group"].expressions]
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


def _resolved_alias(group: exp.Expr, items: Items, rows: QueryRows) -> exp.Expr:
    """Returns the expression of a result column that GROUP BY names, if the rows have no such
    column.
    """
    if isinstance(group, exp.Column) and rows.scope.owner(group) is None and not group.table:
        for name, item in items:
            if name.lower() == group.name.lower() and not has_aggregate(item):
                return without_alias(item)
    return group


def _items(tree: exp.Select, rows: QueryRows) -> Items:
    """Returns the result columns with their names; stars are expanded."""
    found: Items = []
    for item in tree.expressions:
        name = output_name(item, len(found))
        found.extend(_expanded(item, rows) or [(name, with_shared_key(item, rows))])
    seen: set[str] = set()
    for name, item in found:
        if name.lower() in seen:
            raise at_node(SqlError(f"two columns have the name {name!r}: give one an alias"), item)
        seen.add(name.lower())
    return found


def _expanded(item: exp.Expr, rows: QueryRows) -> Items:
    """Expands `*` and `alias.*`. In a join the names consist of alias and column, as in ksqlDB."""
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


def _sources(rows: QueryRows) -> tuple[Relation, ...]:
    return tuple(member.relation for member in rows.scope.members)


BOUNDED = "omit EMIT CHANGES to query the current records"


def streaming_select(query: Query) -> exp.Select:
    """Returns the tree of a query that can run as a stream; UnsupportedError has the reason
    otherwise.
    """
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
            raise at_node(UnsupportedError(reason), node)
    _check_parts(tree)
    _check_emit(query, tree)
    return tree


_CLAUSES = {
    "order": f"a stream has no end, so it cannot be sorted by ORDER BY: {BOUNDED}",
    "distinct": "DISTINCT would keep every row in the state: use GROUP BY, with a window to limit "
    "the state",
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
                raise at_node(UnsupportedError(reason), node)


_PARTS: tuple[tuple[type[exp.Expr], str], ...] = (
    (exp.Window, f"OVER (…) needs all rows at once, and a stream has no end: {BOUNDED}"),
    (exp.Subquery, "a nested query cannot run as a stream: create a stream for it"),
    (exp.Select, "a nested query cannot run as a stream: create a stream for it"),
)


def _check_emit(query: Query, tree: exp.Select) -> None:
    if query.emit is EmitClause.FINAL and query.window is None:
        raise UnsupportedError(
            "EMIT FINAL writes a result when its window is closed, and there is no window: add "
            "WINDOW TUMBLING (…), or use EMIT CHANGES"
        )
    if query.window is not None and tree.args.get("group") is None:
        raise UnsupportedError("WINDOW needs GROUP BY")
