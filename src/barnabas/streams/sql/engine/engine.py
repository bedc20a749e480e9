"""The SQL engine: executes one statement at a time and returns its result.

It owns the catalog, a Spark session that is created when a statement needs one, and the queries
that run in this process. Before every statement it reads the statements of other processes. The
other modules of this package implement the statements.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from barnabas.admin import Admin
from barnabas.runtime.closing import ClosesOnExit
from barnabas.spark.options import ClusterSettings
from barnabas.streams.sql.catalog import TOPIC, Catalog, StatementLog
from barnabas.streams.sql.engine.activity import Activity
from barnabas.streams.sql.engine.insert import InsertStatements
from barnabas.streams.sql.engine.planning import Planning
from barnabas.streams.sql.engine.queries import (
    Queries,
    QuerySupervisor,
    RunningQuery,
    default_state_dir,
)
from barnabas.streams.sql.engine.results import Result, TableResult
from barnabas.streams.sql.engine.select import PushQuery, run_bounded
from barnabas.streams.sql.engine.session import (
    DEFAULT_RESET,
    OFFSET_RESET,
    LazySparkSession,
    default_properties,
    set_property,
    spark_errors,
    spark_failures,
)
from barnabas.streams.sql.engine.show import ShowStatements
from barnabas.streams.sql.engine.statements import CreateStatements, DropStatements, RelationTopics
from barnabas.streams.sql.language.parser import parse_statements
from barnabas.streams.sql.language.statements import (
    Create,
    CreateAs,
    DropStatement,
    InsertSelect,
    InsertValues,
    Query,
    RelationKind,
    SelectStatement,
    SetProperty,
    Statement,
    Terminate,
)
from barnabas.streams.sql.translation.plan import StreamingPlan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


WAITING = "waiting for rows"


class Engine(ClosesOnExit):
    """Executes SQL on one cluster.

    Args:
        settings: Client settings, `bootstrap.servers` among them.
        state_dir: The directory for the checkpoints of queries.
        spark: The Spark session; by default one is created when it is needed.
        run_queries: False only defines queries and leaves running them to other processes.
        topic: The topic of the statement log.
        short_life: For scripts: Spark starts faster and runs slower.
    """

    def __init__(
        self,
        settings: Mapping[str, object],
        *,
        state_dir: Path | str | None = None,
        spark: "SparkSession | None" = None,
        run_queries: bool = True,
        topic: str = TOPIC,
        short_life: bool = False,
    ) -> None:
        self.properties: dict[str, str] = default_properties()
        self.runs_queries = run_queries
        self.activity = Activity()
        self._admin = Admin(settings)
        self._log = StatementLog(settings, self._admin, topic)
        self._cluster = ClusterSettings({name: str(value) for name, value in settings.items()})
        directory = Path(state_dir or default_state_dir(self._cluster_id()))
        self._lazy_session = LazySparkSession(
            spark,
            log_file=directory / "spark.log",
            short_life=short_life,
            activity=self.activity,
        )
        self._planning = Planning(self._log, self._lazy_session)
        self._queries = Queries(directory, self._log, self._lazy_session, self._cluster)
        self._supervisor = QuerySupervisor(
            self._log, self._planning, self._queries, self.activity, run_new=run_queries
        )
        topics = RelationTopics(self._admin)
        self._create = CreateStatements(self._log, topics, self._planning, self._supervisor)
        self._drop = DropStatements(self._log, self._queries, topics)
        self._insert = InsertStatements(settings)
        self._show = ShowStatements(
            self._log.catalog,
            self._queries,
            self._admin,
            settings,
            lambda: self._planning.relations(self.properties),
            self.activity,
        )

    def _cluster_id(self) -> str:
        return self._admin.describe_cluster().cluster_id or ""

    # --- statements ---

    def run(self, text: str) -> list[Result]:
        """Executes all statements of a text; SqlError for the first that fails."""
        return [self.execute(statement) for statement in parse_statements(text)]

    @spark_failures()
    def execute(self, statement: Statement) -> Result:
        """Executes one statement."""
        self.activity.begin()
        with self.activity.step("reading the definitions"):
            self.refresh()
        match statement:
            case Create():
                return self._create.create(statement)
            case CreateAs():
                return self._create.create_as(statement, self.properties)
            case InsertSelect():
                return self._create.insert_select(statement, self.properties)
            case InsertValues(target=target):
                return self._insert.insert(statement, self.catalog.relation(target))
            case SelectStatement(query=query):
                return self._select(query)
            case DropStatement():
                return self._drop.drop(statement)
            case Terminate(query_id=query_id):
                return self._drop.terminate(query_id)
            case SetProperty():
                return set_property(statement, self.properties)
            case _:
                return self._show.run(statement, self.properties)

    def _select(self, query: Query) -> Result:
        if query.emit is None:
            by_name = self._planning.relations(self.properties).by_name
            return run_bounded(query, by_name, self._lazy_session, self._cluster)
        plan = self._planning.pushed(query, self.properties)
        self._planning.schema(query, plan)
        with spark_errors(query):
            pushed = PushQuery(plan, self._lazy_session, self._cluster, to_end=False)
        return pushed.result(f"{WAITING}{self._reset_hint(plan)}")

    def _reset_hint(self, plan: StreamingPlan) -> str:
        """Returns why a SELECT of a stream that has records may show none."""
        streams = any(source.kind is RelationKind.STREAM for source in plan.sources)
        if not streams or self.properties[OFFSET_RESET] != DEFAULT_RESET:
            return ""
        return f" that are written from now on ({OFFSET_RESET} is {DEFAULT_RESET})"

    def push_to_end(self, query: Query, timeout: float | None = None) -> TableResult:
        """Returns the result of a push query over the current records; for tests."""
        plan = self._planning.pushed(query, self.properties)
        pushed = PushQuery(plan, self._lazy_session, self._cluster, to_end=True, timeout=timeout)
        result = pushed.result()
        return TableResult(result.columns, list(result.rows))

    def interrupt(self) -> None:
        """Ends the SELECT or PRINT that another thread executes; other statements continue."""
        self.activity.interrupt()
        self._lazy_session.interrupt()

    @property
    def catalog(self) -> Catalog:
        return self._log.catalog

    def refresh(self) -> None:
        """Reads the statements of other processes, and stops queries that they have terminated."""
        self._supervisor.refresh()

    def topic_names(self) -> list[str]:
        return sorted(listing.name for listing in self._admin.list_topics())

    # --- queries ---

    def resume(self) -> list[RunningQuery]:
        """Takes over every query of the catalog that no other process runs."""
        return self._supervisor.resume()

    @spark_failures()
    def start_queries(self) -> int:
        """Resumes and starts the queries; returns how many run in this process."""
        return self._supervisor.start()

    @spark_failures()
    def run_available(self, timeout: float | None = None) -> None:
        """Lets every query process the current records, in the order of their dependencies.

        Raises SqlError if one does not finish within `timeout` seconds.
        """
        self._supervisor.run_available(timeout)

    def run_defined(self, timeout: float | None = None) -> None:
        """Calls `run_available` if this engine has defined a query."""
        if self._create.has_defined_queries:
            self.run_available(timeout)

    @spark_failures()
    def failures(self) -> dict[str, str]:
        """Returns the queries of this process that have failed or could not start, with the
        reason."""
        return self._supervisor.failures()

    def queries_elsewhere(self) -> dict[str, str]:
        """Returns the queries that only another state directory can run, with its host and path."""
        return self._supervisor.elsewhere()

    # --- close --

    def close(self) -> None:
        """Stops the queries of this process; a later process can continue them."""
        with ExitStack() as ends:
            # In an interrupted script another thread may still execute a statement.
            self.activity.interrupt()
            for part in (self._admin, self._log, self._insert, self._lazy_session):
                ends.callback(part.close)
            self._queries.stop_all()
