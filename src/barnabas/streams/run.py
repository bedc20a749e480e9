"""Runs a topology, to the current end of its topics or until it is stopped.

Also for the other users of Spark in this package: the log file of Spark's JVM, and the short reason
of an exception of Spark.
"""

import itertools
import os
import re
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from barnabas.model.errors import ConfigError, LocalError
from barnabas.spark.options import ClusterSettings
from barnabas.streams import engine
from barnabas.streams.nodes import TopologyNode
from barnabas.streams.schema import Schema
from barnabas.streams.stages import Trigger
from barnabas.streams.topics import wait_until_visible
from barnabas.streams.topology import Topology
from barnabas.streams.windows import DurationLike, milliseconds

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from barnabas.streams.engine.stage_query import StageQuery

POLL_SECONDS = 0.2
CAUSE = re.compile(r"^(?:: )?(?:[\w.$]+\.)?(\w+(?:Error|Exception)): (.+)$", re.MULTILINE)
"""An error of a Python traceback or, after Py4J's colon, of Java: its name and its message."""


LostStatePolicy = Literal["refuse", "rebuild"]


class Runner:
    """Runs a topology on a cluster.

    >>> runner = Runner(  # doctest: +SKIP
    ...     topology, bootstrap_servers="localhost:9092", checkpoint="/var/lib/app/checkpoint"
    ... )
    >>> runner.start().wait()  # doctest: +SKIP

    Args:
        topology: The computation.
        bootstrap_servers: The cluster's addresses; or a `ClusterSettings`, instead of `options`.
        checkpoint: The directory for the positions and the state of the queries.
        spark: The Spark session; by default one from `barnabas.spark.session()`.
        options: Options of the source and the sink: client settings as
            {"kafka.security.protocol": ...}; "maxOffsetsPerTrigger" and the source's other limits,
            which apply to every read.
        lost_state: The reaction if a query has no checkpoint, but its output has records already.
            "refuse" raises LostStateError. "rebuild" deletes the topology's internal topics and
            the remaining checkpoints, and computes everything again from the source topics.

    Raises:
        ConfigError: `lost_state` is neither of the two.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        bootstrap_servers: str | ClusterSettings,
        checkpoint: str,
        spark: "SparkSession | None" = None,
        options: Mapping[str, str] | None = None,
        lost_state: LostStatePolicy = "refuse",
    ) -> None:
        if lost_state not in get_args(LostStatePolicy):
            raise ConfigError(f"lost_state={lost_state!r}: must be refuse or rebuild")
        self._lost_state = lost_state
        self.topology = topology
        self._checkpoint = str(checkpoint)
        self._spark = spark
        self._cluster = _cluster(bootstrap_servers, options)

    def run(self, timeout: float | None = None) -> list[list[Any]]:
        """Processes all records that the topics have now, query after query.

        Args:
            timeout: The longest time in seconds; LocalError if the queries take longer.

        Returns:
            Spark's progress reports, a list for each query.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        reports = []
        for query in self._queries():
            running = query.start(Trigger(available_now=True))
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            try:
                _finish(running, query.name, left)
            finally:
                query.close()
            # The next query reads committed records only. The last transaction of this one may be
            # committed while its markers are not yet written to all partitions, and the next
            # query would miss records of this run.
            wait_until_visible(query.context.cluster.admin(), query.written_topics)
            reports.append(list(running.recentProgress))
        return reports

    def start(self, interval: DurationLike | None = None) -> "Running":
        """Starts all queries; they run until they are stopped.

        Args:
            interval: The shortest time between the starts of two micro-batches.
        """
        pace = None if interval is None else f"{milliseconds(interval)} milliseconds"
        running = Running(self.topology.name)
        try:
            for query in self._queries():
                running.stages.append(query)
                running.queries.append(query.start(Trigger(available_now=False, interval=pace)))
        except BaseException:
            running.stop()
            raise
        return running

    def _queries(self) -> "list[StageQuery]":
        return engine.assemble(
            self.topology, self._spark, self._cluster, self._checkpoint, self._lost_state
        )


@dataclass(slots=True)
class Running:
    """The running queries of a topology."""

    name: str
    stages: "list[StageQuery]" = field(default_factory=list)
    queries: "list[StreamingQuery]" = field(default_factory=list)

    @property
    def exception(self) -> Exception | None:
        """The error of the first query that failed, or None."""
        for query in self.queries:
            error = query.exception()
            if error is not None:
                return failed_query(query.name, error)
        return None

    @property
    def active(self) -> bool:
        """Whether all queries are running."""
        return bool(self.queries) and all(query.isActive for query in self.queries)

    @property
    def progress(self) -> list[Any]:
        """Spark's report of each query's last micro-batch; None before the first."""
        return [query.lastProgress for query in self.queries]

    def progress_after(self, batch: int | None) -> list[Any]:
        """Returns Spark's reports of the first query since a micro-batch, the oldest first.

        Spark keeps the last 100 reports. They are read only if the last report does not suffice,
        because each of them is a call to the JVM.

        Args:
            batch: The last micro-batch that was seen, or None to get all reports.
        """
        query = self.queries[0]
        last = query.lastProgress
        if last is None:
            return []
        if batch is not None and int(last["batchId"]) <= batch + 1:
            return [last]
        return [p for p in query.recentProgress if batch is None or int(p["batchId"]) > batch]

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until a query ends and raises its error; returns False if the timeout passes
        first."""
        deadline = None if timeout is None else time.monotonic() + timeout
        pause = threading.Event()
        while self.active:
            left = POLL_SECONDS if deadline is None else deadline - time.monotonic()
            if left <= 0:
                return False
            # Waits in Python, because Ctrl-C during a call to the JVM would break the connection.
            pause.wait(min(POLL_SECONDS, left))
        if self.exception is not None:
            raise self.exception
        return True

    def process_all(self) -> None:
        """Waits until all records that the topics have now are processed by all queries."""
        for query in self.queries:
            query.processAllAvailable()

    def let_batches_end(self, timeout: float) -> None:
        """Waits until the micro-batch of each query has ended, or the timeout has passed."""
        deadline = time.monotonic() + timeout
        pause = threading.Event()
        for query in self.queries:
            first = _batch_id(query)
            while query.isActive and time.monotonic() < deadline:
                # The status alone is not sufficient: a query without pauses starts its next
                # micro-batch at once and would look active for ever.
                if not query.status["isTriggerActive"] or _batch_id(query) != first:
                    break
                pause.wait(POLL_SECONDS / 4)

    def stop(self) -> None:
        """Stops all queries, then raises the first error.

        One query that does not stop does not prevent the others from stopping; its resources stay
        open.
        """
        errors: list[Exception] = []
        for query, stage in itertools.zip_longest(self.queries, self.stages):
            try:
                if query is not None:
                    query.stop()
                stage.close()
            except Exception as error:  # noqa: BLE001 - Spark raises all kinds; raised below
                errors.append(error)
        if errors:
            raise errors[0]


def _batch_id(query: "StreamingQuery") -> int:
    progress = query.lastProgress
    return -1 if progress is None else int(progress["batchId"])


def output_schema(node: TopologyNode, spark: "SparkSession") -> Schema:
    """Returns the columns of a node's rows, without reading or starting anything."""
    return engine.schema_of_frame(engine.empty_frame(node, spark))


def read_bounded(
    node: TopologyNode,
    spark: "SparkSession",
    bootstrap_servers: str | ClusterSettings,
    options: Mapping[str, str] | None = None,
) -> "DataFrame":
    """Returns the current rows of a node as a batch frame; of a table, the last row of each key."""
    return engine.bounded_frame(node, spark, _cluster(bootstrap_servers, options))


def _cluster(servers: str | ClusterSettings, options: Mapping[str, str] | None) -> ClusterSettings:
    if isinstance(servers, ClusterSettings):
        return servers
    return ClusterSettings.of(servers, options)


def _finish(query: Any, name: str, timeout: float | None) -> None:
    # PySpark declares a timeout in whole seconds, but takes fractions.
    try:
        done = query.awaitTermination(timeout) if timeout is not None else _await_end(query)
    except Exception as error:
        if query.exception() is None:
            raise
        raise failed_query(name, error) from error
    if not done:
        query.stop()
        raise LocalError(f"query {name} has not finished within {timeout:.0f} s")
    failure = query.exception()
    if failure is not None:
        raise failed_query(name, failure) from failure


def _await_end(query: "StreamingQuery") -> bool:
    query.awaitTermination()
    return True


def failed_query(name: str, error: Exception) -> LocalError:
    """Returns an error with the reason alone; Spark's exception, with the plan, is its cause."""
    failure = LocalError(f"query {name}: {short_reason(error)}")
    failure.__cause__ = error
    return failure


def short_reason(error: BaseException) -> str:
    """Returns the last error of this package in the text of an exception, or else the last error
    of a Python traceback or of Java in it, or else its first line.

    The texts of Spark's exceptions contain pages of plans and stack traces.
    """
    text = str(error)
    present = [line.strip() for line in text.splitlines() if line.strip()]
    own = [line for line in present if line.startswith("barnabas.") and ": " in line]
    if own:
        return own[-1].partition(": ")[2]
    causes = CAUSE.findall(text)
    if causes:
        return ": ".join(causes[-1])
    return present[0] if present else repr(error)


@contextmanager
def stderr_into(path: Path | None) -> Iterator[None]:
    """Redirects stderr to a file for a JVM that is started inside; None changes nothing."""
    if path is None:
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    sys.stderr.flush()
    saved = os.dup(2)
    target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(target, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(target)
