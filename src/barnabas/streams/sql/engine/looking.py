"""SHOW, DESCRIBE, PRINT and EXPLAIN: statements that change nothing."""

from collections.abc import Callable, Mapping
from typing import Any

from barnabas.admin import Admin
from barnabas.streams.nodes import CallSink
from barnabas.streams.sql.catalog.catalog import Catalog
from barnabas.streams.sql.engine.listing import (
    TopicPrinter,
    describe,
    show_queries,
    show_relations,
    show_topics,
)
from barnabas.streams.sql.engine.results import Message, Result, Table
from barnabas.streams.sql.engine.running import Queries
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.parser import parse_statement
from barnabas.streams.sql.language.statements import (
    CreateAs,
    Describe,
    Explain,
    InsertSelect,
    Print,
    Query,
    RelationKind,
    Select,
    Show,
    Statement,
)
from barnabas.streams.sql.translation.bounded import bounded_text
from barnabas.streams.sql.translation.plan import plan_query
from barnabas.streams.sql.translation.rows import Relations
from barnabas.streams.topology import Topology


class Looking:
    """Looks at what an engine has; `relations` gives those that queries may read now."""

    def __init__(
        self,
        catalog: Catalog,
        queries: Queries,
        admin: Admin,
        settings: Mapping[str, Any],
        relations: Callable[[], Relations],
    ) -> None:
        self._catalog = catalog
        self._queries = queries
        self._admin = admin
        self._settings = settings
        self._relations = relations

    def look(self, statement: Statement, properties: Mapping[str, str]) -> Result:
        match statement:
            case Show():
                return self._show(statement, properties)
            case Describe(name=name, extended=extended):
                relation = self._catalog.relation(name)
                return describe(self._catalog, relation, self._queries, extended=extended)
            case Print():
                return TopicPrinter(statement, self._settings, self._admin).result()
            case Explain():
                return self._explain(statement)
        raise SqlError(f"{type(statement).__name__} cannot be done")

    def _show(self, statement: Show, properties: Mapping[str, str]) -> Result:
        match statement.what:
            case "STREAMS":
                kind = RelationKind.STREAM
                return show_relations(self._catalog, kind, extended=statement.extended)
            case "TABLES":
                kind = RelationKind.TABLE
                return show_relations(self._catalog, kind, extended=statement.extended)
            case "TOPICS":
                return show_topics(self._admin)
            case "QUERIES":
                return show_queries(self._catalog, self._queries)
            case _:
                rows = [{"property": k, "value": v} for k, v in sorted(properties.items())]
                return Table(["property", "value"], rows)

    def _explain(self, statement: Explain) -> Result:
        inner = statement.statement
        heading = ""
        if statement.query_id is not None:
            found = self._catalog.query(statement.query_id)
            if found is None:
                raise SqlError(f"no query {statement.query_id!r}; SHOW QUERIES lists them")
            heading = f"{found.query_id}: {self._queries.status(found)}\n"
            inner = parse_statement(found.statement)
        if isinstance(inner, Select) and inner.query.emit is None:
            return self._explain_bounded(inner.query)
        if not isinstance(inner, Select | CreateAs | InsertSelect):
            raise SqlError("EXPLAIN takes a query, or the id of one")
        return Message(heading + self._explained(inner.query))

    def _explained(self, query: Query) -> str:
        def output(frame: Any, batch_id: int) -> None:
            """Stands for wherever the rows go."""

        plan = plan_query(query, self._relations())
        return Topology("query", CallSink(plan.shown(), output)).explain()

    def _explain_bounded(self, query: Query) -> Result:
        text, used = bounded_text(query, self._relations().by_name)
        topics = "".join(f"\nreads {item.name}: topic {item.topic} to its end" for item in used)
        return Message(f"Spark SQL: {text}{topics}")
