"""The queries that run on: started from the catalog, stopped with the engine, each in one process.

A query runs where its checkpoint is: in the state directory that is its home, and there in the
process that holds its lock. Offsets and state are in the checkpoint, so a query goes on where it
stood, in this process or a later one.
"""

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from barnabas.model.errors import LocalError
from barnabas.streams.errors import LostStateError
from barnabas.streams.sql.catalog.catalog import QueryDefinition
from barnabas.streams.sql.catalog.statement_log import StatementLog
from barnabas.streams.sql.engine.places import QueryPlace, StateDirectory
from barnabas.streams.sql.engine.spark_errors import failure_text
from barnabas.streams.sql.engine.spark_session import SparkHouse
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.topology import Topology

RUNNING, ELSEWHERE, STOPPED, FAILED = "RUNNING", "RUNNING ELSEWHERE", "STOPPED", "ERROR"


class RunningQuery:
    """One query in this process."""

    def __init__(self, definition: QueryDefinition, place: QueryPlace, runner: Any) -> None:
        self.definition = definition
        self.place = place
        self.runner = runner
        self.running: Any = None
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
        except LostStateError as error:  # the others can run
            self.failure = f"{error}. In SQL: DROP and CREATE the query's table or stream again"

    def run_available(self, timeout: float | None) -> None:
        """Process what is there now."""
        if self.running is not None:
            return
        from pyspark.errors import PySparkException

        try:
            self.runner.run(timeout)
        except (PySparkException, LocalError) as error:
            self.failure = failure_text(error)
            name = self.definition.query_id
            raise SqlError(f"{name} failed: {self.failure}") from error

    def stop(self) -> None:
        """Stop it, and let others have it; one that does not stop keeps its lock."""
        running, self.running = self.running, None
        if running is not None:
            stop_running(running, self.definition.query_id)
        self.place.unlock()


def stop_running(running: Any, name: str) -> None:
    """Stop the queries of a run; SqlError if Spark gives up waiting for one."""
    try:
        running.stop()
    except Exception as error:  # Spark's errors, and those of the bridge to it
        raise SqlError(f"{name} does not stop: {failure_text(error)}") from error


class Queries:
    """The queries of this process, by id; for several threads."""

    def __init__(
        self, state_dir: Path, log: StatementLog, house: SparkHouse, kafka: Mapping[str, str]
    ) -> None:
        self._directory = StateDirectory(state_dir)
        self._log = log
        self._house = house
        self._kafka = kafka
        self._here: dict[str, RunningQuery] = {}
        self._taking = threading.Lock()

    def take(self, definition: QueryDefinition, sink: Any) -> RunningQuery | None:
        """Make a query ready to run here; None if another process or another place has it."""
        with self._taking:
            found = self._here.get(definition.query_id)
            if found is not None:
                return found
            if self.elsewhere(definition) is not None:
                return None
            place = self._directory.place(definition.query_id)
            is_new = self._log.catalog.home(definition.statement_id) is None
            if not place.lock():
                return None
            if not self._is_home(definition):
                place.remove()
                return None
            runner = self._runner(definition, place, sink, is_new=is_new)
            query = RunningQuery(definition, place, runner)
            self._here[definition.query_id] = query
            return query

    def elsewhere(self, definition: QueryDefinition) -> str | None:
        """The host and the directory that have a query's checkpoint, when those are others."""
        home = self._log.catalog.home(definition.statement_id)
        if home is None or home.directory == self._directory.known_id():
            return None
        return home.where

    def _is_home(self, definition: QueryDefinition) -> bool:
        """Whether a query runs from this directory, which claims it if nobody has."""
        own = self._directory.home
        found = self._log.claim(definition.statement_id, own)
        return found is not None and found.directory == own.directory

    def _runner(
        self, definition: QueryDefinition, place: QueryPlace, sink: Any, *, is_new: bool
    ) -> Any:
        """A new query may write to a topic that has records; a later run needs its checkpoint."""
        from barnabas.streams.run import Runner

        options = dict(self._kafka)
        servers = options.pop("kafka.bootstrap.servers")
        return Runner(
            Topology(place.path.name, sink),
            bootstrap_servers=servers,
            checkpoint=place.checkpoint,
            spark=self._house.session,
            options=options,
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
        taken = self._directory.place(definition.query_id).is_taken()
        return ELSEWHERE if taken else STOPPED

    def release(self, query_id: str, *, forget: bool) -> None:
        """Stop a query here; `forget` removes its checkpoint as well."""
        found = self._here.pop(query_id, None)
        place = self._directory.place(query_id) if found is None else found.place
        if found is not None:
            found.stop()
        # A process that runs it elsewhere stops and forgets it when it reads the catalog again.
        if forget and not place.is_taken():
            place.remove()

    def stop_all(self) -> None:
        """Stop what runs here; all are told to, also when one will not."""
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
