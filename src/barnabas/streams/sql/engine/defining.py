"""CREATE and INSERT INTO … SELECT: relations and queries, written into the catalog."""

from collections.abc import Mapping
from dataclasses import replace

from barnabas.streams.sql.catalog.catalog import Catalog, Definition, QueryDefinition
from barnabas.streams.sql.catalog.properties import TopicWish, declared, topic_wish
from barnabas.streams.sql.catalog.relations import Relation
from barnabas.streams.sql.catalog.statement_log import StatementLog
from barnabas.streams.sql.engine.derived import check_insert, derived
from barnabas.streams.sql.engine.fleet import Fleet
from barnabas.streams.sql.engine.planning import Planning, placed
from barnabas.streams.sql.engine.results import Message, Result
from barnabas.streams.sql.engine.topics import Topics
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.statements import (
    Create,
    CreateAs,
    InsertSelect,
    RelationKind,
    Statement,
)
from barnabas.streams.sql.translation.plan import StreamingPlan


class Defining:
    """Defines streams, tables and the queries that fill them."""

    def __init__(self, log: StatementLog, topics: Topics, planning: Planning, fleet: Fleet) -> None:
        self._log = log
        self._topics = topics
        self._planning = planning
        self._fleet = fleet
        self.has_defined_queries = False

    @property
    def _catalog(self) -> Catalog:
        return self._log.catalog

    def create(self, statement: Create) -> Result:
        replaced = self._replaced(statement)
        if isinstance(replaced, Message):
            return replaced
        relation = declared(statement)
        self._topics.require(relation, topic_wish(statement.properties))
        self._log.define(Definition(statement.text, relation, replaces=replaced))
        return Message(f"{relation.kind.value} {relation.name} created")

    def create_as(self, statement: CreateAs, settings: Mapping[str, str]) -> Result:
        replaced = self._replaced(statement)
        if isinstance(replaced, Message):
            return replaced
        plan = self._planning.written(statement.query, settings)
        schema = self._planning.schema(statement.query, plan)
        relation = placed(statement.query, lambda: derived(statement, plan, schema))
        self._make_topic(relation, topic_wish(statement.properties), plan)
        kind = "CTAS" if statement.kind is RelationKind.TABLE else "CSAS"
        definition = replace(
            _definition(statement, kind, relation.name, plan, settings),
            relation=relation,
            replaces=replaced,
        )
        query = self._defined(definition)
        self._fleet.begin(query, plan, relation)
        name = f"{relation.kind.value} {relation.name}"
        return Message(f"{name} created, filled by {query.query_id}", query.query_id)

    def insert_select(self, statement: InsertSelect, settings: Mapping[str, str]) -> Result:
        target = self._catalog.relation(statement.target)
        plan = self._planning.written(statement.query, settings)
        schema = self._planning.schema(statement.query, plan)
        placed(statement.query, lambda: check_insert(target, plan, schema))
        query = self._defined(_definition(statement, "INSERTQUERY", target.name, plan, settings))
        self._fleet.begin(query, plan, target)
        return Message(f"{target.name} filled by {query.query_id}", query.query_id)

    def _make_topic(self, relation: Relation, wish: TopicWish, plan: StreamingPlan) -> None:
        """Partitions and retention are those of the first source, unless told."""
        first = plan.sources[0]
        if wish.retention_ms is None and first.kind is RelationKind.STREAM:
            wish = replace(wish, retention_ms=self._topics.retention(first.topic))
        self._topics.make(relation, wish, self._topics.partitions(first.topic) or 1)

    def _defined(self, definition: Definition) -> QueryDefinition:
        statement_id = self._log.define(definition)
        self.has_defined_queries = True
        return next(q for q in self._catalog.queries if q.statement_id == statement_id)

    def _replaced(self, statement: Create | CreateAs) -> str | Message | None:
        """The statement that a new one replaces; a message when there is nothing to do."""
        existing = self._catalog.find(statement.name)
        if existing is None:
            return None
        if statement.if_not_exists:
            return Message(f"{existing.name} exists already")
        if not statement.or_replace:
            raise SqlError(f"{existing.name} exists already: DROP it first, or CREATE OR REPLACE")
        if existing.kind is not statement.kind:
            raise SqlError(f"{existing.name} is a {existing.kind.value}: DROP it first")
        owner = self._catalog.owner(statement.name)
        for query in self._catalog.writers(statement.name):
            if query.statement_id == owner:
                self._fleet.queries.release(query.query_id, forget=True)
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
