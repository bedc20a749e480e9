"""SELECT: bounded reads of the current records, and push queries (EMIT CHANGES).

A bounded query can use all of Spark SQL and ksqlDB's functions. Relations are views with their own
columns and those that every row has (ROWTIME, ROWPARTITION, ROWOFFSET). A star means the relation's
own columns, so stars are expanded.
"""

import queue
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from barnabas.spark.options import ClusterSettings
from barnabas.streams.nodes import CallSink, Project
from barnabas.streams.run import Runner, Running, read_bounded
from barnabas.streams.schema import quoted
from barnabas.streams.sql.engine.queries import stop_running
from barnabas.streams.sql.engine.results import Row, StreamResult, TableResult
from barnabas.streams.sql.engine.session import LazySparkSession, failure_text, spark_errors
from barnabas.streams.sql.language.dialect import BarnabasSql
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.statements import Query
from barnabas.streams.sql.relations import Relation, unknown_relation
from barnabas.streams.sql.translation import records
from barnabas.streams.sql.translation.expressions import spark_function
from barnabas.streams.sql.translation.plan import StreamingPlan
from barnabas.streams.sql.translation.scope import ROW_COLUMNS, at_node, at_query
from barnabas.streams.topology import Topology

if TYPE_CHECKING:
    from pyspark.sql import DataFrame  # optional extra

WAIT_SECONDS = 0.2
_END = object()
ARRIVAL = "struct(ROWOFFSET, ROWTIME)"


def run_bounded(
    query: Query,
    relations: Mapping[str, Relation],
    lazy_session: LazySparkSession,
    cluster: ClusterSettings,
) -> TableResult:
    """Returns the rows of a SELECT without EMIT, read from the current records of the topics."""
    text, used = bounded_text(query, relations)
    with lazy_session.interruptible() as spark, lazy_session.activity.step(_reading(used)):
        for relation in used:
            _view(relation, lazy_session, cluster)
        with spark_errors(query):
            frame = spark.sql(text)
            rows = [row.asDict(recursive=True) for row in frame.collect()]
    return TableResult(frame.columns, rows)


def _reading(relations: Sequence[Relation]) -> str:
    names = ", ".join(relation.name for relation in relations)
    return f"reading the current records of {names}" if names else "running the query"


def _view(relation: Relation, lazy_session: LazySparkSession, cluster: ClusterSettings) -> None:
    own = tuple((column.name, quoted(column.name)) for column in relation.columns)
    every = tuple(
        (name.upper(), text.format(row=""))
        for name, text in ROW_COLUMNS.items()
        if relation.column(name) is None
    )
    node = Project(records.source(relation), own + every)
    frame = read_bounded(node, lazy_session.session, cluster)
    names = [quoted(name) for name, _ in own + every]
    frame.where("NOT _tombstone").selectExpr(*names).createOrReplaceTempView(quoted(relation.name))


class PushQuery:
    """A push query: puts its rows into a queue until it is closed. Its checkpoint is temporary."""

    def __init__(
        self,
        plan: StreamingPlan,
        lazy_session: LazySparkSession,
        cluster: ClusterSettings,
        *,
        to_end: bool,
        timeout: float | None = None,
    ) -> None:
        self._plan = plan
        self._activity = lazy_session.activity
        self._rows: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._checkpoint = tempfile.mkdtemp(prefix="barnabas-push-")
        self._runner = self._make_runner(lazy_session, cluster)
        self._running: Running | None = None
        if to_end:
            self._runner.run(timeout)
            self._rows.put(_END)
        else:
            self._running = self._start()

    def _make_runner(self, lazy_session: LazySparkSession, cluster: ClusterSettings) -> Runner:
        sink = CallSink(self._plan.shown(), self._take)
        topology = Topology(f"push-{uuid.uuid4().hex[:12]}", sink)
        return Runner(
            topology,
            bootstrap_servers=cluster,
            checkpoint=self._checkpoint,
            spark=lazy_session.session,
        )

    def _start(self) -> Running:
        try:
            with self._activity.step("starting the query"):
                return self._runner.start()
        except BaseException:
            self.close()
            raise

    def _take(self, frame: "DataFrame", batch_id: int) -> None:
        names = [f"`{name}`" for name, _ in self._plan.columns]
        for row in frame.where("NOT _tombstone").selectExpr(*names).collect():
            self._rows.put(row.asDict(recursive=True))

    def result(self, waiting: str = "waiting for rows") -> StreamResult:
        """Returns the rows as they arrive; `waiting` names the step between them."""
        names = [name for name, _ in self._plan.columns]
        return StreamResult(names, _Rows(self._iterate(waiting), self._rows), self.close)

    def _iterate(self, waiting: str) -> Iterator[Row]:
        left = self._plan.limit
        try:
            while (left is None or left > 0) and not self._activity.interrupted:
                row = self._next(waiting)
                if row is _END:
                    return
                if row is not None:
                    yield row
                    left = None if left is None else left - 1
        finally:
            self.close()

    def _next(self, waiting: str) -> Any:
        """Returns a row, None if no row is available yet, or `_END` after the last row."""
        try:
            with self._activity.step(waiting):
                return self._rows.get(timeout=WAIT_SECONDS)
        except queue.Empty:
            running = self._running
            if running is not None and running.exception is not None:
                raise SqlError(f"the query failed: {failure_text(running.exception)}") from None
            return None if running is not None and running.active else _END

    def close(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            stop_running(running, "the query")
        shutil.rmtree(self._checkpoint, ignore_errors=True)


class _Rows:
    """The rows of a query; `ready` returns whether the next is available without waiting."""

    def __init__(self, rows: Iterator[Row], waiting: "queue.SimpleQueue[object]") -> None:
        self._rows = rows
        self._waiting = waiting

    def ready(self) -> bool:
        return not self._waiting.empty()

    def __iter__(self) -> Iterator[Row]:
        return self

    def __next__(self) -> Row:
        return next(self._rows)


def bounded_text(query: Query, relations: Mapping[str, Relation]) -> tuple[str, list[Relation]]:
    """Returns Spark's text of a bounded query, and the relations that it reads.

    `relations` are by lower-case name.
    """
    try:
        return _bounded_text(query, relations)
    except SqlError as error:
        raise at_query(error, query) from None


def _bounded_text(query: Query, relations: Mapping[str, Relation]) -> tuple[str, list[Relation]]:
    if query.window is not None or any(query.withins) or query.partition_by:
        raise SqlError(
            "WINDOW, WITHIN and PARTITION BY need a streaming query: add EMIT CHANGES. In a "
            "bounded query, GROUP BY window(timestamp_millis(ROWTIME), '1 minute') groups by time"
        )
    tree = query.tree.copy()
    used = {node.name.lower(): _found(node, relations) for node in _tables(tree)}
    for select in tree.find_all(exp.Select):
        select.set(
            "expressions",
            [item for part in select.expressions for item in _expanded_star(part, select, used)],
        )
    for node in list(tree.walk()):
        made = spark_function(node, ARRIVAL, lambda part: str(part.sql(dialect=BarnabasSql)))
        if made is not None and node.parent is not None:
            node.replace(made)
    return str(tree.sql(dialect=BarnabasSql)), list(used.values())


def _tables(tree: exp.Expr) -> Iterator[exp.Table]:
    """Yields the relations of a query, without the names that its WITH clause defines."""
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


def _expanded_star(
    item: exp.Expr, select: exp.Select, used: Mapping[str, Relation]
) -> Iterator[exp.Expr]:
    """Yields the columns of a star, or any other expression unchanged."""
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
