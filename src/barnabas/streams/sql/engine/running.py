"""The queries that run on: started from the catalog, stopped with the engine, each in one process.

A query's directory, below the state directory, has its checkpoint and a lock. The process that
holds the lock runs the query; to all others it runs elsewhere. Offsets and state are in the
checkpoint, so a query goes on where it stood, in this process or a later one.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from barnabas.model.errors import LocalError
from barnabas.streams.sql.catalog.catalog import QueryDefinition
from barnabas.streams.sql.engine.spark_errors import failure_text
from barnabas.streams.sql.engine.spark_session import SparkHouse
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.topology import Topology

RUNNING, ELSEWHERE, STOPPED, FAILED = "RUNNING", "RUNNING ELSEWHERE", "STOPPED", "ERROR"


class QueryPlace:
    """The directory of one query."""

    def __init__(self, state_dir: Path, query_id: str) -> None:
        self.path = state_dir / re.sub(r"[^A-Za-z0-9._-]", "_", query_id)
        self._lock: IO[bytes] | None = None

    @property
    def checkpoint(self) -> str:
        return str(self.path / "checkpoint")

    def lock(self) -> bool:
        """Take the query for this process; False if another has it."""
        self.path.mkdir(parents=True, exist_ok=True)
        handle = (self.path / "lock").open("ab")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.close()
            return False
        self._lock = handle
        return True

    def is_taken(self) -> bool:
        """Whether some process has the query."""
        if self._lock is not None:
            return True
        if not (self.path / "lock").exists():
            return False
        if not self.lock():
            return True
        self.unlock()
        return False

    def unlock(self) -> None:
        handle, self._lock = self._lock, None
        if handle is not None:
            handle.close()

    def remove(self) -> None:
        self.unlock()
        shutil.rmtree(self.path, ignore_errors=True)


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
        if self.running is None:
            self.running = self.runner.start()

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
        running, self.running = self.running, None
        if running is not None:
            running.stop()
        self.place.unlock()


class Queries:
    """The queries of this process, by id."""

    def __init__(self, state_dir: Path, house: SparkHouse, kafka: Mapping[str, str]) -> None:
        self._state_dir = state_dir
        self._house = house
        self._kafka = kafka
        self._here: dict[str, RunningQuery] = {}

    def take(self, definition: QueryDefinition, sink: Any) -> RunningQuery | None:
        """Make a query ready to run here; None if another process has it."""
        found = self._here.get(definition.query_id)
        if found is not None:
            return found
        place = QueryPlace(self._state_dir, definition.query_id)
        if not place.lock():
            return None
        runner = self._runner(definition, place, sink)
        query = RunningQuery(definition, place, runner)
        self._here[definition.query_id] = query
        return query

    def _runner(self, definition: QueryDefinition, place: QueryPlace, sink: Any) -> Any:
        from barnabas.streams.run import Runner

        options = dict(self._kafka)
        servers = options.pop("kafka.bootstrap.servers")
        return Runner(
            Topology(place.path.name, sink),
            bootstrap_servers=servers,
            checkpoint=place.checkpoint,
            spark=self._house.session,
            options=options,
        )

    def here(self, query_id: str) -> RunningQuery | None:
        return self._here.get(query_id)

    def status(self, query_id: str) -> str:
        found = self._here.get(query_id)
        if found is not None:
            return found.status
        return ELSEWHERE if QueryPlace(self._state_dir, query_id).is_taken() else STOPPED

    def release(self, query_id: str, *, forget: bool) -> None:
        """Stop a query here; `forget` removes its checkpoint as well."""
        found = self._here.pop(query_id, None)
        place = QueryPlace(self._state_dir, query_id) if found is None else found.place
        if found is not None:
            found.stop()
        # A process that runs it elsewhere stops and forgets it when it reads the catalog again.
        if forget and not place.is_taken():
            place.remove()

    def drop_unknown(self, known: set[str]) -> None:
        """Stop what somebody else has terminated."""
        for query_id in [name for name in self._here if name not in known]:
            self.release(query_id, forget=True)

    def stop_all(self) -> None:
        for query in list(self._here.values()):
            query.stop()
        self._here.clear()

    def __iter__(self) -> Any:
        return iter(list(self._here.values()))


def default_state_dir(cluster_id: str) -> Path:
    """Below XDG_STATE_HOME: a directory for each cluster."""
    home = os.environ.get("XDG_STATE_HOME")
    base = Path(home) if home else Path.home() / ".local" / "state"
    return base / "barnabas" / "sql" / re.sub(r"[^A-Za-z0-9._-]", "_", cluster_id)
