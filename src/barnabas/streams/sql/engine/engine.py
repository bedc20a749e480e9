"""The engine: one statement in, one answer out.

It holds the catalog, a Spark session once something needs one, and the queries that run in this
process. Before every statement it reads what other shells have defined meanwhile.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from barnabas.admin import Admin
from barnabas.clients.producer import Producer
from barnabas.streams.sql.catalog.catalog import Catalog, Definition, QueryDefinition
from barnabas.streams.sql.catalog.properties import TopicWish, declared, topic_wish
from barnabas.streams.sql.catalog.relations import Relation, close_name
from barnabas.streams.sql.catalog.statement_log import TOPIC, StatementLog
from barnabas.streams.sql.engine.bounded import run_bounded
from barnabas.streams.sql.engine.derived import check_insert, derived
from barnabas.streams.sql.engine.ending import Ending
from barnabas.streams.sql.engine.looking import Looking
from barnabas.streams.sql.engine.push import PushQuery
from barnabas.streams.sql.engine.results import Message, Result, Table
from barnabas.streams.sql.engine.running import FAILED, Queries, RunningQuery, default_state_dir
from barnabas.streams.sql.engine.spark_errors import spark_errors
from barnabas.streams.sql.engine.spark_session import SparkHouse
from barnabas.streams.sql.engine.topics import Topics
from barnabas.streams.sql.engine.values import records
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.parser import parse_statement, parse_statements
from barnabas.streams.sql.language.statements import (
    Create,
    CreateAs,
    Drop,
    InsertSelect,
    InsertValues,
    Query,
    RelationKind,
    Select,
    SetProperty,
    Statement,
    Terminate,
)
from barnabas.streams.sql.translation.expressions import check_replayable
from barnabas.streams.sql.translation.plan import StreamingPlan, plan_query
from barnabas.streams.sql.translation.records import DEAD_LETTERS, SKIP
from barnabas.streams.sql.translation.refusals import place
from barnabas.streams.sql.translation.rows import Relations

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OFFSET_RESET, DEFAULT_RESET = "auto.offset.reset", "latest"
PROPERTIES = {OFFSET_RESET: ("earliest", "latest")}
SEND_SECONDS = 30.0


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
        self._settings = dict(settings)
        self._admin = Admin(self._settings)
        self._log = StatementLog(self._settings, self._admin, topic)
        self._topics = Topics(self._admin)
        self._kafka = {f"kafka.{name}": str(value) for name, value in settings.items()}
        place = state_dir or default_state_dir(self._admin.describe_cluster().cluster_id or "")
        self._house = SparkHouse(spark, log_file=Path(place) / "spark.log", short_life=short_life)
        self._queries = Queries(Path(place), self._house, self._kafka)
        self._looking = Looking(
            self._log.catalog,
            self._queries,
            self._admin,
            self._settings,
            lambda: self._relations(self.properties, SKIP),
        )
        self._ending = Ending(self._log, self._queries, self._topics)
        self._run_queries = run_queries
        self._defines_queries = False
        self._unable: dict[str, str] = {}
        self._producer: Producer | None = None
        self.properties: dict[str, str] = {OFFSET_RESET: DEFAULT_RESET}

    # --- statements ---

    def run(self, text: str) -> list[Result]:
        """Do all statements of a text; SqlError at the first that fails."""
        return [self.execute(statement) for statement in parse_statements(text)]

    def execute(self, statement: Statement) -> Result:
        """Do one statement."""
        self.refresh()
        match statement:
            case Create():
                return self._create(statement)
            case CreateAs():
                return self._create_as(statement)
            case InsertValues():
                return self._insert_values(statement)
            case InsertSelect():
                return self._insert_select(statement)
            case Select(query=query):
                return self._select(query)
            case Drop():
                return self._ending.drop(statement)
            case Terminate(query_id=query_id):
                return self._ending.terminate(query_id)
            case SetProperty():
                return self._set(statement)
            case _:
                return self._looking.look(statement, self.properties)

    @property
    def catalog(self) -> Catalog:
        return self._log.catalog

    def refresh(self) -> None:
        """Read what others have defined, and stop what they have terminated."""
        catalog = self._log.refresh()
        self._queries.drop_unknown({query.query_id for query in catalog.queries})

    def topic_names(self) -> list[str]:
        return sorted(listing.name for listing in self._admin.list_topics())

    # --- definitions ---

    def _create(self, statement: Create) -> Result:
        replaced = self._replaced(statement)
        if isinstance(replaced, Message):
            return replaced
        relation = declared(statement)
        self._topics.require(relation, topic_wish(statement.properties))
        self._log.define(Definition(statement.text, relation, replaces=replaced))
        return Message(f"{relation.kind.value} {relation.name} created")

    def _create_as(self, statement: CreateAs) -> Result:
        replaced = self._replaced(statement)
        if isinstance(replaced, Message):
            return replaced
        plan = self._plan(statement.query)
        with spark_errors(statement.query):
            relation = _placed(
                statement.query, lambda: derived(statement, plan, self._schema(plan))
            )
        self._make_topic(relation, topic_wish(statement.properties), plan)
        kind = "CTAS" if statement.kind is RelationKind.TABLE else "CSAS"
        definition = self._query_definition(statement, kind, relation.name, plan, relation)
        query = self._defined(Definition(**definition, replaces=replaced))
        self._start(query, plan, relation)
        name = f"{relation.kind.value} {relation.name}"
        return Message(f"{name} created, filled by {query.query_id}", query.query_id)

    def _make_topic(self, relation: Relation, wish: TopicWish, plan: StreamingPlan) -> None:
        """Partitions and retention are those of the first source, unless told."""
        first = plan.sources[0]
        if wish.retention_ms is None and first.kind is RelationKind.STREAM:
            wish = replace(wish, retention_ms=self._topics.retention(first.topic))
        self._topics.make(relation, wish, self._topics.partitions(first.topic) or 1)

    def _insert_select(self, statement: InsertSelect) -> Result:
        target = self.catalog.relation(statement.target)
        plan = self._plan(statement.query)
        with spark_errors(statement.query):
            schema = self._schema(plan)
        _placed(statement.query, lambda: check_insert(target, plan, schema))
        definition = self._query_definition(statement, "INSERTQUERY", target.name, plan, None)
        query = self._defined(Definition(**definition))
        self._start(query, plan, target)
        return Message(f"{target.name} filled by {query.query_id}", query.query_id)

    def _query_definition(
        self,
        statement: Statement,
        kind: str,
        target: str,
        plan: StreamingPlan,
        relation: Relation | None,
    ) -> dict[str, Any]:
        return {
            "statement": statement.text,
            "relation": relation,
            "query_kind": kind,
            "target": target,
            "sources": tuple(source.name for source in plan.sources),
            "settings": dict(self.properties),
        }

    def _defined(self, definition: Definition) -> QueryDefinition:
        statement_id = self._log.define(definition)
        self._defines_queries = True
        return next(q for q in self.catalog.queries if q.statement_id == statement_id)

    def _replaced(self, statement: Create | CreateAs) -> str | Message | None:
        """The statement that a new one replaces; a message when there is nothing to do."""
        existing = self.catalog.find(statement.name)
        if existing is None:
            return None
        if statement.if_not_exists:
            return Message(f"{existing.name} exists already")
        if not statement.or_replace:
            raise SqlError(f"{existing.name} exists already: DROP it first, or CREATE OR REPLACE")
        if existing.kind is not statement.kind:
            raise SqlError(f"{existing.name} is a {existing.kind.value}: DROP it first")
        owner = self.catalog.owner(statement.name)
        for query in self.catalog.writers(statement.name):
            if query.statement_id == owner:
                self._queries.release(query.query_id, forget=True)
        return owner

    # --- queries ---

    def _relations(self, settings: Mapping[str, str], on_error: str) -> Relations:
        by_name = {relation.name.lower(): relation for relation in self.catalog.relations}
        return Relations(by_name, settings[OFFSET_RESET], on_error)

    def _plan(self, query: Query, settings: Mapping[str, str] | None = None) -> StreamingPlan:
        """The plan of a query that writes."""
        _placed(query, lambda: check_replayable(query.tree))
        return plan_query(query, self._relations(settings or self.properties, DEAD_LETTERS))

    def _schema(self, plan: StreamingPlan) -> Any:
        from barnabas.streams.run import output_schema

        return output_schema(plan.full(), self._house.session)

    def _start(self, definition: QueryDefinition, plan: StreamingPlan, target: Relation) -> None:
        if not self._run_queries:
            return
        query = self._queries.take(definition, plan.written(target))
        if query is not None:
            query.start()

    def resume(self) -> list[RunningQuery]:
        """Take every query of the catalog that no other process has."""
        self.refresh()
        taken = []
        for item in self.catalog.queries:
            try:
                query = self._taken(item)
            except SqlError as error:  # one that cannot run must not keep the others from running
                self._unable[item.query_id] = error.reason
            else:
                taken += [] if query is None else [query]
        return taken

    def _taken(self, definition: QueryDefinition) -> RunningQuery | None:
        found = self._queries.here(definition.query_id)
        if found is not None:
            return found
        statement = parse_statement(definition.statement)
        assert isinstance(statement, CreateAs | InsertSelect)
        plan = self._plan(statement.query, definition.settings)
        return self._queries.take(
            definition, plan.written(self.catalog.relation(definition.target))
        )

    def start_queries(self) -> int:
        """Resume and keep on; returns how many run here."""
        taken = self.resume()
        for query in taken:
            query.start()
        return len(taken)

    def run_available(self, timeout: float | None = None) -> None:
        """Let every query process what is there now, those that feed others first."""
        for query in self.resume():
            query.run_available(timeout)
            if query.running is None:
                self._queries.release(query.definition.query_id, forget=False)

    def run_defined(self, timeout: float | None = None) -> None:
        """`run_available`, if this engine has defined a query."""
        if self._defines_queries:
            self.run_available(timeout)

    def failures(self) -> dict[str, str]:
        """Queries of this process that have failed, or could not begin, with the reason."""
        failed = {
            query.definition.query_id: query.error or ""
            for query in self._queries
            if query.status == FAILED
        }
        return self._unable | failed

    def _select(self, query: Query) -> Result:
        if query.emit is None:
            by_name = {relation.name.lower(): relation for relation in self.catalog.relations}
            return run_bounded(query, by_name, self._house, self._kafka)
        plan = plan_query(query, self._relations(self.properties, SKIP))
        with spark_errors(query):
            self._schema(plan)
        return PushQuery(plan, self._house, self._kafka, to_end=False).result()

    def push_to_end(self, query: Query) -> Table:
        """What a push query gives for all that is there now; for tests."""
        plan = plan_query(query, self._relations(self.properties, SKIP))
        result = PushQuery(plan, self._house, self._kafka, to_end=True).result()
        return Table(result.columns, list(result.rows))

    def _insert_values(self, statement: InsertValues) -> Result:
        relation = self.catalog.relation(statement.target)
        if self._producer is None:
            self._producer = Producer(self._settings)
        sent = [
            self._producer.send(
                relation.topic, record.value, key=record.key, timestamp=record.timestamp
            )
            for record in records(statement, relation)
        ]
        for future in sent:
            future.result(timeout=SEND_SECONDS)
        return Message(f"{len(sent)} row{'' if len(sent) == 1 else 's'} into {relation.name}")

    # --- settings ---

    def _set(self, statement: SetProperty) -> Result:
        name, value = statement.name, statement.value or DEFAULT_RESET
        if name not in PROPERTIES:
            raise SqlError(f"no property {name!r}{close_name(name, PROPERTIES)}")
        if value not in PROPERTIES[name]:
            raise SqlError(f"{name} is one of {', '.join(PROPERTIES[name])}")
        self.properties[name] = value
        return Message(f"{name} is {value}")

    # --- life ---

    def close(self) -> None:
        """Stop the queries of this process; others, or a later one, go on with them."""
        self._queries.stop_all()
        self._house.close()
        if self._producer is not None:
            self._producer.close()
        self._log.close()
        self._admin.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _placed(query: Query, work: Any) -> Any:
    """Run a check; its errors point at the query."""
    try:
        return work()
    except SqlError as error:
        raise place(error, query) from None
