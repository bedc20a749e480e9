"""SELECT: bounded reads of topics as they are now, and push queries (EMIT CHANGES)."""

import queue
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from barnabas.spark.client_settings import ClusterSettings
from barnabas.streams.nodes import CallSink, Select
from barnabas.streams.schema import quoted
from barnabas.streams.sql.catalog.relations import Relation
from barnabas.streams.sql.engine.queries import stop_running
from barnabas.streams.sql.engine.results import Row, Streamed, Table
from barnabas.streams.sql.engine.session import LazySparkSession, failure_text, spark_errors
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.statements import Query
from barnabas.streams.sql.translation.bounded import bounded_text
from barnabas.streams.sql.translation.plan import StreamingPlan
from barnabas.streams.sql.translation.records import source
from barnabas.streams.sql.translation.scope import ROW_COLUMNS
from barnabas.streams.topology import Topology


def run_bounded(
    query: Query,
    relations: Mapping[str, Relation],
    lazy_session: LazySparkSession,
    cluster: ClusterSettings,
) -> Table:
    """The rows of a SELECT without EMIT: topics as they are now, read as views."""
    text, used = bounded_text(query, relations)
    spark = lazy_session.session
    for relation in used:
        _view(relation, lazy_session, cluster)
    with spark_errors(query):
        frame = spark.sql(text)
        rows = [row.asDict(recursive=True) for row in frame.collect()]
    return Table(frame.columns, rows)


def _view(relation: Relation, lazy_session: LazySparkSession, cluster: ClusterSettings) -> None:
    from barnabas.streams.run import read_bounded

    own = tuple((column.name, quoted(column.name)) for column in relation.columns)
    every = tuple(
        (name.upper(), text.format(row=""))
        for name, text in ROW_COLUMNS.items()
        if relation.column(name) is None
    )
    node = Select(source(relation), own + every)
    frame: Any = read_bounded(
        node,
        lazy_session.session,
        cluster,
    )
    names = [quoted(name) for name, _ in own + every]
    frame.where("NOT _tombstone").selectExpr(*names).createOrReplaceTempView(quoted(relation.name))


WAIT_SECONDS = 0.2
_END = object()


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
        self._rows: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._place = tempfile.mkdtemp(prefix="barnabas-push-")
        self._runner = self._make_runner(lazy_session, cluster)
        self._running: Any = None
        if to_end:
            self._runner.run(timeout)
            self._rows.put(_END)
        else:
            self._running = self._runner.start()

    def _make_runner(self, lazy_session: LazySparkSession, cluster: ClusterSettings) -> Any:
        from barnabas.streams.run import Runner

        sink = CallSink(self._plan.shown(), self._take)
        topology = Topology(f"push-{uuid.uuid4().hex[:12]}", sink)
        return Runner(
            topology,
            bootstrap_servers=cluster,
            checkpoint=self._place,
            spark=lazy_session.session,
        )

    def _take(self, frame: Any, batch_id: int) -> None:
        names = [f"`{name}`" for name, _ in self._plan.columns]
        for row in frame.where("NOT _tombstone").selectExpr(*names).collect():
            self._rows.put(row.asDict(recursive=True))

    def result(self) -> Streamed:
        names = [name for name, _ in self._plan.columns]
        return Streamed(names, _Rows(self._iterate(), self._rows), self.close)

    def _iterate(self) -> Iterator[Row]:
        left = self._plan.limit
        try:
            while left is None or left > 0:
                row = self._next()
                if row is _END:
                    return
                if row is not None:
                    yield row
                    left = None if left is None else left - 1
        finally:
            self.close()

    def _next(self) -> Any:
        """A row; None if there is none yet; `_END` after the last."""
        try:
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
        shutil.rmtree(self._place, ignore_errors=True)


class _Rows:
    """The rows of a query; `ready` says whether the next is available without waiting."""

    def __init__(self, rows: Iterator[Row], waiting: "queue.SimpleQueue[Any]") -> None:
        self._rows = rows
        self._waiting = waiting

    def ready(self) -> bool:
        return not self._waiting.empty()

    def __iter__(self) -> Iterator[Row]:
        return self

    def __next__(self) -> Row:
        return next(self._rows)
