"""Persistent queries: where their checkpoints are, which process runs them, and in which order.

A query runs in the state directory with its checkpoint, in the process that holds its lock. Offsets
and state are in the checkpoint, so a query continues where it stopped, in this process or a later
one.
"""

import fcntl
import os
import re
import shutil
import socket
import threading
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import IO

from barnabas.model.errors import BarnabasError, LocalError
from barnabas.spark.options import ClusterSettings
from barnabas.spark.pipeline_registry import state_home
from barnabas.streams.nodes import Sink
from barnabas.streams.run import Runner, Running
from barnabas.streams.sql.catalog import Catalog, CheckpointLocation, QueryDefinition, StatementLog
from barnabas.streams.sql.engine.activity import Activity
from barnabas.streams.sql.engine.planning import Planning
from barnabas.streams.sql.engine.session import LazySparkSession, failure_text, spark_exception
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.parser import parse_statement
from barnabas.streams.sql.language.statements import CreateAs, InsertSelect
from barnabas.streams.sql.relations import Relation
from barnabas.streams.sql.translation.plan import StreamingPlan
from barnabas.streams.stages import LostStateError
from barnabas.streams.topology import Topology

ID_FILE = "id"
LOCK_RETRY_SECONDS = (0.01, 0.02, 0.05)


class StateDirectory:
    """A directory of checkpoints, created when a query first needs it.

    It has an id, in a file that moves with the directory to another machine; the catalog refers to
    the directory by that id.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def location(self) -> CheckpointLocation:
        """The entry for the catalog; the first call creates the id."""
        found = self.known_id()
        return CheckpointLocation(self._make_id() if found is None else found, self._where)

    @property
    def _where(self) -> str:
        return f"{socket.gethostname()}:{self.path.absolute()}"

    def known_id(self) -> str | None:
        """Returns the id; None before the first query."""
        try:
            return (self.path / ID_FILE).read_text().strip()
        except FileNotFoundError:
            return None

    def _make_id(self) -> str:
        """Writes the id to a temporary file and links it: readers see all of it, and the first of
        two writers wins.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        made = uuid.uuid4().hex
        aside = self.path / f"{ID_FILE}.{made}"
        aside.write_text(made + "\n")
        try:
            os.link(aside, self.path / ID_FILE)
        except FileExistsError:
            made = (self.path / ID_FILE).read_text().strip()
        finally:
            aside.unlink()
        return made

    def query_directory(self, query_id: str) -> "QueryDirectory":
        return QueryDirectory(self.path, query_id)


class QueryDirectory:
    """The directory of one query, with its checkpoint. Among the processes that share a state
    directory, the one that holds the lock runs the query.
    """

    def __init__(self, state_dir: Path, query_id: str) -> None:
        self.path = state_dir / re.sub(r"[^A-Za-z0-9._-]", "_", query_id)
        self._lock: IO[bytes] | None = None

    @property
    def checkpoint(self) -> str:
        return str(self.path / "checkpoint")

    def lock(self) -> bool:
        """Locks the query for this process; returns False if another process has it."""
        self.path.mkdir(parents=True, exist_ok=True)
        handle = (self.path / "lock").open("ab")
        # `is_taken` of another process holds the lock for a moment: try more than once.
        pause = threading.Event()
        for pause_s in (*LOCK_RETRY_SECONDS, None):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if pause_s is not None:
                    pause.wait(pause_s)
            else:
                self._lock = handle
                return True
        handle.close()
        return False

    def is_taken(self) -> bool:
        """Returns whether any process has the query."""
        if self._lock is not None:
            return True
        try:
            handle = (self.path / "lock").open("rb")
        except FileNotFoundError:
            return False
        with handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def unlock(self) -> None:
        handle, self._lock = self._lock, None
        if handle is not None:
            handle.close()

    def remove(self) -> None:
        self.unlock()
        shutil.rmtree(self.path, ignore_errors=True)


def default_state_dir(cluster_id: str) -> Path:
    """Returns a directory for each cluster below the user's state directory."""
    return state_home() / "sql" / re.sub(r"[^A-Za-z0-9._-]", "_", cluster_id)


@dataclass(frozen=True, slots=True)
class Flow:
    """A query, the topics it reads and the topic it writes."""

    query_id: str
    reads: frozenset[str]
    writes: str


def feeding_order(flows: Sequence[Flow]) -> list[str]:
    """Returns the ids sorted by dependency, writers first; in a cycle, in the order of definition.

    >>> one, two = Flow("one", frozenset("b"), "c"), Flow("two", frozenset("a"), "b")
    >>> feeding_order([one, two])
    ['two', 'one']
    """
    graph = {
        flow.query_id: [
            other.query_id for other in flows if other.writes in flow.reads and other is not flow
        ]
        for flow in flows
    }
    try:
        return list(TopologicalSorter(graph).static_order())
    # INSERT INTO allows a cycle. Each query then processes what its sources have now; the records
    # that come back are left for the next run.
    except CycleError:
        return [flow.query_id for flow in flows]


RUNNING, ELSEWHERE, STOPPED, FAILED = "RUNNING", "RUNNING ELSEWHERE", "STOPPED", "ERROR"


class RunningQuery:
    """One query in this process."""

    def __init__(
        self, definition: QueryDefinition, directory: QueryDirectory, runner: Runner
    ) -> None:
        self.definition = definition
        self.directory = directory
        self.runner = runner
        self.running: Running | None = None
        self.failure: str | None = None

    @property
    def status(self) -> str:
        failed = self.running is not None and self.running.exception is not None
        if failed or self.failure is not None:
            return FAILED
        return RUNNING if self.running is not None else STOPPED

    @property
    def error(self) -> str | None:
        exception = None if self.running is None else self.running.exception
        return self.failure or (None if exception is None else failure_text(exception))

    def start(self) -> None:
        if self.running is not None:
            return
        try:
            self.running = self.runner.start()
        except LostStateError as error:  # other queries can still run
            self.failure = f"{error}. In SQL: DROP and CREATE the query's table or stream again"
        except (spark_exception(), BarnabasError) as error:
            self.failure = failure_text(error)

    def run_available(self, timeout: float | None) -> None:
        """Processes the current records."""
        if self.running is not None:
            return
        try:
            self.runner.run(timeout)
        except (spark_exception(), LocalError) as error:
            self.failure = failure_text(error)
            name = self.definition.query_id
            raise SqlError(f"{name} failed: {self.failure}") from error

    def stop(self) -> None:
        """Stops the query and releases its lock, unless the query does not stop."""
        running, self.running = self.running, None
        if running is not None:
            stop_running(running, self.definition.query_id)
        self.directory.unlock()


def stop_running(running: Running, name: str) -> None:
    """Stops the queries of a run; SqlError if Spark's stop timeout passes."""
    try:
        running.stop()
    except Exception as error:  # errors of Spark and of Py4J
        raise SqlError(f"{name} does not stop: {failure_text(error)}") from error


class Queries:
    """The queries of this process, by id. Thread-safe."""

    def __init__(
        self,
        state_dir: Path,
        log: StatementLog,
        lazy_session: LazySparkSession,
        cluster: ClusterSettings,
    ) -> None:
        self._directory = StateDirectory(state_dir)
        self._log = log
        self._lazy_session = lazy_session
        self._cluster = cluster
        self._here: dict[str, RunningQuery] = {}
        self._claim_lock = threading.Lock()

    def take(self, definition: QueryDefinition, sink: Sink) -> RunningQuery | None:
        """Prepares a query to run here; None if another process or state directory has it."""
        with self._claim_lock:
            found = self._here.get(definition.query_id)
            if found is not None:
                return found
            # The checkpoint is in a local directory. Another directory would start the query from
            # the beginning and write all results again.
            if self.elsewhere(definition) is not None:
                return None
            directory = self._directory.query_directory(definition.query_id)
            # Read before the location is claimed below; afterwards no query looks new.
            is_new = self._log.catalog.location(definition.statement_id) is None
            if not directory.lock():
                return None
            # The lock excludes processes with the same directory, the claim in the log those with
            # another one. If two directories claim at the same time, the first record in the log
            # wins.
            if not self._claims_location(definition):
                directory.remove()
                return None
            runner = self._runner(definition, directory, sink, is_new=is_new)
            query = RunningQuery(definition, directory, runner)
            self._here[definition.query_id] = query
            return query

    def elsewhere(self, definition: QueryDefinition) -> str | None:
        """Returns the host and state directory with a query's checkpoint, if it is not this
        directory.
        """
        location = self._log.catalog.location(definition.statement_id)
        if location is None or location.directory == self._directory.known_id():
            return None
        return location.where

    def _claims_location(self, definition: QueryDefinition) -> bool:
        """Claims a query for this directory, unless it is claimed; returns whether this directory
        has it.
        """
        own = self._directory.location
        found = self._log.claim(definition.statement_id, own)
        return found is not None and found.directory == own.directory

    def _runner(
        self, definition: QueryDefinition, directory: QueryDirectory, sink: Sink, *, is_new: bool
    ) -> Runner:
        """Returns a runner. A new query may write to a topic that has records; later it needs its
        checkpoint.
        """
        return Runner(
            Topology(directory.path.name, sink),
            bootstrap_servers=self._cluster,
            checkpoint=directory.checkpoint,
            spark=self._lazy_session.session,
            lost_state="rebuild" if is_new else "refuse",
        )

    def here(self, query_id: str) -> RunningQuery | None:
        return self._here.get(query_id)

    def status(self, definition: QueryDefinition) -> str:
        found = self._here.get(definition.query_id)
        if found is not None:
            return found.status
        where = self.elsewhere(definition)
        if where is not None:
            return f"ON {where}"
        taken = self._directory.query_directory(definition.query_id).is_taken()
        return ELSEWHERE if taken else STOPPED

    def release(self, query_id: str, *, forget: bool) -> None:
        """Stops a query here; `forget` removes its checkpoint as well."""
        found = self._here.pop(query_id, None)
        directory = self._directory.query_directory(query_id) if found is None else found.directory
        if found is not None:
            found.stop()
        # Another process that runs it stops and removes it when it next reads the catalog.
        if forget and not directory.is_taken():
            directory.remove()

    def stop_all(self) -> None:
        """Stops all queries of this process, then raises the first error."""
        errors = []
        for query in list(self._here.values()):
            try:
                query.stop()
            except SqlError as error:
                errors.append(error)
        self._here.clear()
        if errors:
            raise errors[0]

    def __iter__(self) -> Iterator[RunningQuery]:
        return iter(list(self._here.values()))


class QuerySupervisor:
    """Starts, resumes and stops the queries of the catalog in this process.

    With `run_new` False new queries are left to other processes, or to `run_available`.
    """

    def __init__(
        self,
        log: StatementLog,
        planning: Planning,
        queries: Queries,
        activity: Activity,
        *,
        run_new: bool,
    ) -> None:
        self.queries = queries
        self._log = log
        self._planning = planning
        self._run_new = run_new
        self._activity = activity
        self._unable: dict[str, str] = {}

    @property
    def _catalog(self) -> Catalog:
        return self._log.catalog

    def refresh(self) -> None:
        """Reads the statements of other processes, and stops queries that they have terminated."""
        # Before the catalog is read: another thread may define and take a query meanwhile.
        here = [query.definition.query_id for query in self.queries]
        known = {query.query_id for query in self._log.refresh().queries}
        for query_id in here:
            if query_id not in known:
                self.queries.release(query_id, forget=True)

    def begin(self, definition: QueryDefinition, plan: StreamingPlan, target: Relation) -> None:
        """Starts a query that has just been defined."""
        if not self._run_new:
            return
        query = self.queries.take(definition, plan.written(target))
        if query is not None:
            self._start(query)

    def resume(self) -> list[RunningQuery]:
        """Takes over every query of the catalog that no other process runs."""
        self.refresh()
        taken = []
        for item in self._catalog.queries:
            try:
                query = self._taken(item)
            except SqlError as error:  # the other queries can still run
                self._unable[item.query_id] = error.reason
            else:
                taken += [] if query is None else [query]
        return taken

    def _taken(self, definition: QueryDefinition) -> RunningQuery | None:
        found = self.queries.here(definition.query_id)
        if found is not None:
            return found
        statement = parse_statement(definition.statement)
        assert isinstance(statement, CreateAs | InsertSelect)
        plan = self._planning.written(statement.query, definition.settings)
        return self.queries.take(
            definition, plan.written(self._catalog.relation(definition.target))
        )

    def start(self) -> int:
        """Resumes and starts the queries; returns how many run here."""
        taken = self.resume()
        for query in taken:
            self._start(query)
        return len(taken)

    def _start(self, query: RunningQuery) -> None:
        with self._activity.step(f"starting {query.definition.query_id}"):
            query.start()

    def run_available(self, timeout: float | None = None) -> None:
        """Lets every query process the current records, in the order of their dependencies.

        Raises SqlError if one does not finish within `timeout` seconds.
        """
        taken = {query.definition.query_id: query for query in self.resume()}
        for query_id in feeding_order([self._flow(query.definition) for query in taken.values()]):
            query = taken[query_id]
            with self._activity.step(f"{query_id} processes the current records"):
                query.run_available(timeout)
            if query.running is None:
                self.queries.release(query_id, forget=False)

    def _flow(self, definition: QueryDefinition) -> Flow:
        topics = {name: self._catalog.relation(name).topic for name in definition.sources}
        target = self._catalog.relation(definition.target).topic
        return Flow(definition.query_id, frozenset(topics.values()), target)

    def failures(self) -> dict[str, str]:
        """Returns the queries of this process that have failed or could not start, with the
        reason."""
        failed = {
            query.definition.query_id: query.error or ""
            for query in self.queries
            if query.status == FAILED
        }
        return self._unable | failed

    def elsewhere(self) -> dict[str, str]:
        """Returns the queries that only another state directory can run, with its host and path."""
        found = {query.query_id: self.queries.elsewhere(query) for query in self._catalog.queries}
        return {query_id: where for query_id, where in found.items() if where is not None}
