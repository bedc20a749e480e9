"""The engine: one statement in, one answer out.

It holds the catalog, a Spark session once something needs one, and the queries that run in this
process. Before every statement it reads what other shells have defined meanwhile. What statements
do is in the modules beside this one.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from barnabas.admin import Admin
from barnabas.streams.sql.catalog.catalog import Catalog
from barnabas.streams.sql.catalog.statement_log import TOPIC, StatementLog
from barnabas.streams.sql.engine.bounded import run_bounded
from barnabas.streams.sql.engine.defining import Defining
from barnabas.streams.sql.engine.ending import Ending
from barnabas.streams.sql.engine.fleet import Fleet
from barnabas.streams.sql.engine.inserting import Inserting
from barnabas.streams.sql.engine.looking import Looking
from barnabas.streams.sql.engine.places import default_state_dir
from barnabas.streams.sql.engine.planning import Planning
from barnabas.streams.sql.engine.push import PushQuery
from barnabas.streams.sql.engine.results import Result, Table
from barnabas.streams.sql.engine.running import Queries, RunningQuery
from barnabas.streams.sql.engine.session_properties import default_properties, set_property
from barnabas.streams.sql.engine.spark_session import SparkHouse
from barnabas.streams.sql.engine.topics import Topics
from barnabas.streams.sql.language.parser import parse_statements
from barnabas.streams.sql.language.statements import (
    Create,
    CreateAs,
    Drop,
    InsertSelect,
    InsertValues,
    Query,
    Select,
    SetProperty,
    Statement,
    Terminate,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Engine:
    """SQL on one cluster.

    `run_queries` False leaves the queries to others: this one only defines them. `state_dir`
    holds their checkpoints. `short_life` is for scripts: Spark starts faster, and runs slower.
    """

    def __init__(
        self,
        settings: Mapping[str, Any],
        *,
        state_dir: Path | str | None = None,
        spark: "SparkSession | None" = None,
        run_queries: bool = True,
        topic: str = TOPIC,
        short_life: bool = False,
    ) -> None:
        self.properties: dict[str, str] = default_properties()
        self.runs_queries = run_queries
        self._admin = Admin(settings)
        self._log = StatementLog(settings, self._admin, topic)
        self._kafka = {f"kafka.{name}": str(value) for name, value in settings.items()}
        place = Path(state_dir or default_state_dir(self._cluster_id()))
        self._house = SparkHouse(spark, log_file=place / "spark.log", short_life=short_life)
        self._planning = Planning(self._log, self._house)
        self._queries = Queries(place, self._log, self._house, self._kafka)
        self._fleet = Fleet(self._log, self._planning, self._queries, run_new=run_queries)
        topics = Topics(self._admin)
        self._defining = Defining(self._log, topics, self._planning, self._fleet)
        self._ending = Ending(self._log, self._queries, topics)
        self._inserting = Inserting(settings)
        self._looking = Looking(
            self._log.catalog,
            self._queries,
            self._admin,
            settings,
            lambda: self._planning.relations(self.properties),
        )

    def _cluster_id(self) -> str:
        return self._admin.describe_cluster().cluster_id or ""

    # --- statements ---

    def run(self, text: str) -> list[Result]:
        """Do all statements of a text; SqlError at the first that fails."""
        return [self.execute(statement) for statement in parse_statements(text)]

    def execute(self, statement: Statement) -> Result:
        """Do one statement."""
        self.refresh()
        match statement:
            case Create():
                return self._defining.create(statement)
            case CreateAs():
                return self._defining.create_as(statement, self.properties)
            case InsertSelect():
                return self._defining.insert_select(statement, self.properties)
            case InsertValues(target=target):
                return self._inserting.insert(statement, self.catalog.relation(target))
            case Select(query=query):
                return self._select(query)
            case Drop():
                return self._ending.drop(statement)
            case Terminate(query_id=query_id):
                return self._ending.terminate(query_id)
            case SetProperty():
                return set_property(statement, self.properties)
            case _:
                return self._looking.look(statement, self.properties)

    def _select(self, query: Query) -> Result:
        if query.emit is None:
            by_name = self._planning.relations(self.properties).by_name
            return run_bounded(query, by_name, self._house, self._kafka)
        plan = self._planning.pushed(query, self.properties)
        self._planning.schema(query, plan)
        return PushQuery(plan, self._house, self._kafka, to_end=False).result()

    def push_to_end(self, query: Query, timeout: float | None = None) -> Table:
        """What a push query gives for all that is there now; for tests."""
        plan = self._planning.pushed(query, self.properties)
        pushed = PushQuery(plan, self._house, self._kafka, to_end=True, timeout=timeout)
        result = pushed.result()
        return Table(result.columns, list(result.rows))

    @property
    def catalog(self) -> Catalog:
        return self._log.catalog

    def refresh(self) -> None:
        """Read what others have defined, and stop what they have terminated."""
        self._fleet.refresh()

    def topic_names(self) -> list[str]:
        return sorted(listing.name for listing in self._admin.list_topics())

    # --- queries ---

    def resume(self) -> list[RunningQuery]:
        """Take every query of the catalog that no other process has."""
        return self._fleet.resume()

    def start_queries(self) -> int:
        """Resume and keep on; returns how many run here."""
        return self._fleet.start()

    def run_available(self, timeout: float | None = None) -> None:
        """Let every query process what is there now, those that feed others first; SqlError when
        one is not done after `timeout` seconds."""
        self._fleet.run_available(timeout)

    def run_defined(self, timeout: float | None = None) -> None:
        """`run_available`, if this engine has defined a query."""
        if self._defining.has_defined_queries:
            self.run_available(timeout)

    def failures(self) -> dict[str, str]:
        """Queries of this process that have failed, or could not begin, with the reason."""
        return self._fleet.failures()

    def elsewhere(self) -> dict[str, str]:
        """Queries that only another state directory can run, with its host and path."""
        return self._fleet.elsewhere()

    # --- life ---

    def close(self) -> None:
        """Stop the queries of this process; others, or a later one, go on with them."""
        with ExitStack() as ends:
            for part in (self._admin, self._log, self._inserting, self._house):
                ends.callback(part.close)
            self._queries.stop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
