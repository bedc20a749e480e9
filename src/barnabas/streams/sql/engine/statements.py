"""CREATE, INSERT INTO ... SELECT, TERMINATE and DROP: statements that change the catalog."""

from collections.abc import Mapping
from dataclasses import replace

from barnabas.admin import Admin, ConfigResource, ConfigSource
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.streams.sql.catalog import Catalog, Definition, QueryDefinition, StatementLog
from barnabas.streams.sql.engine.planning import (
    Planning,
    check_insert,
    derived,
    with_query_position,
)
from barnabas.streams.sql.engine.queries import Queries, QuerySupervisor
from barnabas.streams.sql.engine.results import Result, TextResult
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.statements import (
    Create,
    CreateAs,
    DropStatement,
    InsertSelect,
    RelationKind,
    Statement,
)
from barnabas.streams.sql.properties import NewTopicSettings, declared, new_topic_settings
from barnabas.streams.sql.relations import Relation, close_name
from barnabas.streams.sql.translation.plan import StreamingPlan
from barnabas.streams.topics import create_missing, topic_for


class RelationTopics:
    """Looks up, creates and deletes the topics of relations."""

    def __init__(self, admin: Admin) -> None:
        self._admin = admin

    def partitions(self, topic: str) -> int | None:
        """Returns the number of partitions of a topic; None if it does not exist."""
        try:
            return len(self._admin.describe_topic(topic).partitions)
        except BrokerError as error:
            if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                return None
            raise

    def require(self, relation: Relation, new_topic: NewTopicSettings) -> None:
        """Checks the topic of CREATE without AS: it exists, or `partitions` says how to create
        it."""
        if self.partitions(relation.topic) is not None:
            return
        if new_topic.partitions is None:
            raise SqlError(
                f"topic {relation.topic!r} does not exist: create it, or add partitions=… to WITH"
            )
        self.make(relation, new_topic, new_topic.partitions)

    def retention(self, topic: str) -> int | None:
        """Returns the topic's own retention; None if it has the cluster's default."""
        resource = ConfigResource.topic(topic)
        found = self._admin.describe_configs([resource], names=["retention.ms"])
        entry = found[resource].get("retention.ms") if resource in found.ok else None
        own = entry is not None and entry.source is ConfigSource.DYNAMIC_TOPIC_CONFIG
        return int(entry.value) if own and entry is not None and entry.value else None

    def make(self, relation: Relation, new_topic: NewTopicSettings, partitions: int) -> None:
        """Creates the topic of a relation if it is missing; compacted for a table."""
        topic = topic_for(
            relation.topic,
            table=relation.kind is RelationKind.TABLE,
            partitions=new_topic.partitions or partitions,
            replicas=new_topic.replicas,
            retention_ms=new_topic.retention_ms,
        )
        for error in create_missing(self._admin, [topic]).values():
            raise error

    def delete(self, topic: str) -> None:
        try:
            self._admin.delete_topic(topic)
        except BrokerError as error:
            if error.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                raise


class CreateStatements:
    """CREATE and INSERT INTO ... SELECT: define streams, tables and the queries that write them."""

    def __init__(
        self,
        log: StatementLog,
        topics: RelationTopics,
        planning: Planning,
        supervisor: QuerySupervisor,
    ) -> None:
        self._log = log
        self._topics = topics
        self._planning = planning
        self._supervisor = supervisor
        self.has_defined_queries = False

    @property
    def _catalog(self) -> Catalog:
        return self._log.catalog

    def create(self, statement: Create) -> Result:
        replaced = self._replaced(statement)
        if isinstance(replaced, TextResult):
            return replaced
        relation = declared(statement)
        self._topics.require(relation, new_topic_settings(statement.properties))
        self._log.define(Definition(statement.text, relation, replaces=replaced))
        return TextResult(f"{relation.kind.value} {relation.name} created")

    def create_as(self, statement: CreateAs, settings: Mapping[str, str]) -> Result:
        replaced = self._replaced(statement)
        if isinstance(replaced, TextResult):
            return replaced
        plan = self._planning.written(statement.query, settings)
        schema = self._planning.schema(statement.query, plan)
        relation = with_query_position(statement.query, lambda: derived(statement, plan, schema))
        self._make_topic(relation, new_topic_settings(statement.properties), plan)
        kind = "CTAS" if statement.kind is RelationKind.TABLE else "CSAS"
        definition = replace(
            _definition(statement, kind, relation.name, plan, settings),
            relation=relation,
            replaces=replaced,
        )
        query = self._defined(definition)
        self._supervisor.begin(query, plan, relation)
        name = f"{relation.kind.value} {relation.name}"
        return TextResult(f"{name} created, filled by {query.query_id}", query.query_id)

    def insert_select(self, statement: InsertSelect, settings: Mapping[str, str]) -> Result:
        target = self._catalog.relation(statement.target)
        plan = self._planning.written(statement.query, settings)
        schema = self._planning.schema(statement.query, plan)
        with_query_position(statement.query, lambda: check_insert(target, plan, schema))
        query = self._defined(_definition(statement, "INSERTQUERY", target.name, plan, settings))
        self._supervisor.begin(query, plan, target)
        return TextResult(f"{target.name} filled by {query.query_id}", query.query_id)

    def _make_topic(
        self, relation: Relation, new_topic: NewTopicSettings, plan: StreamingPlan
    ) -> None:
        """Creates the topic; partitions and retention are by default those of the first source."""
        first = plan.sources[0]
        if new_topic.retention_ms is None and first.kind is RelationKind.STREAM:
            new_topic = replace(new_topic, retention_ms=self._topics.retention(first.topic))
        self._topics.make(relation, new_topic, self._topics.partitions(first.topic) or 1)

    def _defined(self, definition: Definition) -> QueryDefinition:
        statement_id = self._log.define(definition)
        self.has_defined_queries = True
        return next(q for q in self._catalog.queries if q.statement_id == statement_id)

    def _replaced(self, statement: Create | CreateAs) -> str | TextResult | None:
        """Returns the statement that a new one replaces, or a message if there is nothing to do."""
        existing = self._catalog.find(statement.name)
        if existing is None:
            return None
        if statement.if_not_exists:
            return TextResult(f"{existing.name} exists already")
        if not statement.or_replace:
            raise SqlError(f"{existing.name} exists already: DROP it first, or CREATE OR REPLACE")
        if existing.kind is not statement.kind:
            raise SqlError(f"{existing.name} is a {existing.kind.value}: DROP it first")
        owner = self._catalog.owner(statement.name)
        for query in self._catalog.writers(statement.name):
            if query.statement_id == owner:
                self._supervisor.queries.release(query.query_id, forget=True)
        return owner


def _definition(
    statement: Statement,
    kind: str,
    target: str,
    plan: StreamingPlan,
    settings: Mapping[str, str],
) -> Definition:
    return Definition(
        statement.text,
        query_kind=kind,
        target=target,
        sources=tuple(source.name for source in plan.sources),
        settings=dict(settings),
    )


class DropStatements:
    """TERMINATE and DROP: end queries and remove definitions."""

    def __init__(self, log: StatementLog, queries: Queries, topics: RelationTopics) -> None:
        self._log = log
        self._queries = queries
        self._topics = topics

    def terminate(self, query_id: str | None) -> Result:
        chosen = self._log.catalog.queries
        if query_id is not None:
            found = self._log.catalog.query(query_id)
            if found is None:
                known = [query.query_id for query in chosen]
                raise SqlError(f"no query {query_id!r}{close_name(query_id, known)}")
            chosen = [found]
        for query in chosen:
            self._end(query)
        names = ", ".join(query.query_id for query in chosen) or "nothing"
        return TextResult(f"{names} terminated")

    def _end(self, query: QueryDefinition) -> None:
        if query.query_id.startswith("INSERTQUERY"):
            self._log.remove(query.statement_id)
        else:
            self._log.terminate(query.statement_id)
        self._queries.release(query.query_id, forget=True)

    def drop(self, statement: DropStatement) -> Result:
        relation = self._log.catalog.find(statement.name)
        if relation is None and statement.if_exists:
            return TextResult(f"{statement.name} does not exist")
        relation = self._log.catalog.relation(statement.name)
        if relation.kind is not statement.kind:
            raise SqlError(
                f"{relation.name} is a {relation.kind.value}: DROP {relation.kind.value}"
            )
        owner = self._log.catalog.owner(relation.name)
        assert owner is not None
        busy = self._log.catalog.readers(relation.name)
        busy += [q for q in self._log.catalog.writers(relation.name) if q.statement_id != owner]
        if busy:
            names = ", ".join(query.query_id for query in busy)
            raise SqlError(f"{relation.name} is in use: TERMINATE {names} first")
        own = [q.query_id for q in self._log.catalog.writers(relation.name)]
        self._log.remove(owner)
        for query_id in own:
            self._queries.release(query_id, forget=True)
        if statement.delete_topic:
            self._topics.delete(relation.topic)
        return TextResult(f"{relation.name} dropped")
