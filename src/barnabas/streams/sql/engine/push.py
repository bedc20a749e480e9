"""SELECT … EMIT CHANGES: rows as they come, until the caller has had enough."""

import queue
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from barnabas.streams.nodes import CallSink
from barnabas.streams.sql.engine.results import Row, Streamed
from barnabas.streams.sql.engine.running import stop_running
from barnabas.streams.sql.engine.spark_errors import failure_text
from barnabas.streams.sql.engine.spark_session import SparkHouse
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.translation.plan import StreamingPlan
from barnabas.streams.topology import Topology

WAIT_SECONDS = 0.2
_END = object()


class PushQuery:
    """A query that hands its rows to a queue. Its checkpoint is gone with it."""

    def __init__(
        self,
        plan: StreamingPlan,
        house: SparkHouse,
        kafka: Mapping[str, str],
        *,
        to_end: bool,
        timeout: float | None = None,
    ) -> None:
        self._plan = plan
        self._rows: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._place = tempfile.mkdtemp(prefix="barnabas-push-")
        self._runner = self._make_runner(house, kafka)
        self._running: Any = None
        if to_end:
            self._runner.run(timeout)
            self._rows.put(_END)
        else:
            self._running = self._runner.start()

    def _make_runner(self, house: SparkHouse, kafka: Mapping[str, str]) -> Any:
        from barnabas.streams.run import Runner

        sink = CallSink(self._plan.shown(), self._take)
        topology = Topology(f"push-{uuid.uuid4().hex[:12]}", sink)
        options = dict(kafka)
        servers = options.pop("kafka.bootstrap.servers")
        return Runner(
            topology,
            bootstrap_servers=servers,
            checkpoint=self._place,
            spark=house.session,
            options=options,
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
        """A row, None when there is none yet, or the end."""
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
    """The rows of a query, and whether the next is there already."""

    def __init__(self, rows: Iterator[Row], waiting: "queue.SimpleQueue[Any]") -> None:
        self._rows = rows
        self._waiting = waiting

    def ready(self) -> bool:
        return not self._waiting.empty()

    def __iter__(self) -> Iterator[Row]:
        return self

    def __next__(self) -> Row:
        return next(self._rows)
