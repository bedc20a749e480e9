"""SHOW, DESCRIBE, PRINT and EXPLAIN: statements that change nothing."""

from collections.abc import Callable, Iterator, Mapping

from barnabas.admin import Admin
from barnabas.clients.simple import SimpleConsumer
from barnabas.records.record import Record
from barnabas.streams.nodes import CallSink
from barnabas.streams.sql.catalog import Catalog
from barnabas.streams.sql.engine.activity import Activity
from barnabas.streams.sql.engine.queries import Queries
from barnabas.streams.sql.engine.results import Result, Row, StreamResult, TableResult, TextResult
from barnabas.streams.sql.engine.select import bounded_text
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
    SelectStatement,
    Show,
    Statement,
)
from barnabas.streams.sql.relations import AVRO_FORMATS, Relation, derived_schema
from barnabas.streams.sql.translation.plan import plan_query
from barnabas.streams.sql.translation.scope import Relations
from barnabas.streams.topology import Topology

FETCH_WAIT_MS = 100


def show_relations(catalog: Catalog, kind: RelationKind, *, extended: bool) -> TableResult:
    columns = ["name", "topic", "key_format", "value_format", "windowed"]
    rows = [
        {
            "name": relation.name,
            "topic": relation.topic,
            "key_format": relation.key_format.value,
            "value_format": relation.value_format.value,
            "windowed": relation.window is not None,
            **({"statement": catalog.statement_of(relation.name)} if extended else {}),
        }
        for relation in catalog.relations
        if relation.kind is kind
    ]
    return TableResult([*columns, "statement"] if extended else columns, rows)


def show_topics(admin: Admin) -> TableResult:
    names = [listing.name for listing in admin.list_topics()]
    # A topic that is deleted between the two calls is left out.
    described = admin.describe_topics(names).ok
    rows = [
        {
            "topic": name,
            "partitions": len(described[name].partitions),
            "replicas": described[name].replication_factor,
        }
        for name in sorted(str(name) for name in described)
    ]
    return TableResult(["topic", "partitions", "replicas"], rows)


def show_queries(catalog: Catalog, queries: Queries) -> TableResult:
    rows = [
        {
            "query": query.query_id,
            "status": queries.status(query),
            "reads": list(query.sources),
            "writes": query.target,
            "statement": " ".join(query.statement.split()),
        }
        for query in catalog.queries
    ]
    return TableResult(["query", "status", "reads", "writes", "statement"], rows)


def describe(
    catalog: Catalog, relation: Relation, queries: Queries, *, extended: bool
) -> TableResult:
    """Returns the columns; with `extended` all properties, as rows of name and value."""
    rows: list[Row] = [
        {"column": column.name, "type": column.type, "key": column.role.value}
        for column in relation.columns
    ]
    if not extended:
        return TableResult(["column", "type", "key"], rows)
    facts = {
        "name": relation.name,
        "kind": relation.kind.value,
        "topic": relation.topic,
        "key_format": relation.key_format.value,
        "value_format": relation.value_format.value,
        "timestamp": relation.timestamp or "the record's",
        "columns": [f"{c.name} {c.type} {c.role.value}".strip() for c in relation.columns],
        "read_by": [query.query_id for query in catalog.readers(relation.name)],
        "written_by": [query.query_id for query in catalog.writers(relation.name)],
        "statement": " ".join(catalog.statement_of(relation.name).split()),
    }
    if relation.value_format in AVRO_FORMATS:
        given = relation.avro_schema
        facts["avro_schema"] = given or derived_schema(relation.value_columns)
    errors = [q.error for q in queries if q.error and q.definition.target == relation.name]
    if errors:
        facts["errors"] = errors
    return TableResult(
        ["property", "value"], [{"property": k, "value": v} for k, v in facts.items()]
    )


class TopicPrinter:
    """PRINT: the records of all partitions as they arrive."""

    def __init__(
        self,
        statement: Print,
        settings: Mapping[str, object],
        admin: Admin,
        activity: Activity,
    ) -> None:
        self._statement = statement
        self._activity = activity
        self._consumer = SimpleConsumer(settings, fetch_max_wait_ms=FETCH_WAIT_MS)
        known = {listing.name for listing in admin.list_topics()}
        if statement.topic not in known:
            self._consumer.close()
            raise SqlError(f"topic {statement.topic!r} does not exist")
        self._positions = {
            partition: self._begin(partition)
            for partition in self._consumer.partitions(statement.topic)
        }

    def _begin(self, partition: int) -> int:
        topic = self._statement.topic
        if self._statement.from_beginning:
            return self._consumer.earliest_offset(topic, partition)
        return self._consumer.latest_offset(topic, partition)

    def result(self) -> StreamResult:
        columns = ["rowtime", "key", "value", "partition", "offset"]
        return StreamResult(columns, self._rows(), self._consumer.close)

    def _rows(self) -> Iterator[Row]:
        printed = seen = 0
        limit = self._statement.limit
        try:
            while not self._activity.interrupted:
                for record in self._fetched():
                    seen += 1
                    if (seen - 1) % self._statement.interval:
                        continue
                    yield _shown(record)
                    printed += 1
                    if limit is not None and printed >= limit:
                        return
        finally:
            self._consumer.close()

    def _fetched(self) -> Iterator[Record]:
        for partition, position in self._positions.items():
            with self._activity.step("waiting for records"):
                fetched = self._consumer.fetch(self._statement.topic, partition, position)
            records, following = fetched.decode()
            yield from records
            self._positions[partition] = max(following, position)


def _shown(record: Record) -> Row:
    return {
        "rowtime": record.timestamp,
        "key": _text(record.key),
        "value": _text(record.value),
        "partition": record.partition,
        "offset": record.offset,
    }


def _text(data: bytes | None) -> str | None:
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return "0x" + data.hex()


class ShowStatements:
    """SHOW, DESCRIBE, PRINT and EXPLAIN. `relations` returns those that queries can read now."""

    def __init__(
        self,
        catalog: Catalog,
        queries: Queries,
        admin: Admin,
        settings: Mapping[str, object],
        relations: Callable[[], Relations],
        activity: Activity,
    ) -> None:
        self._catalog = catalog
        self._queries = queries
        self._admin = admin
        self._settings = settings
        self._relations = relations
        self._activity = activity

    def run(self, statement: Statement, properties: Mapping[str, str]) -> Result:
        match statement:
            case Show():
                return self._show(statement, properties)
            case Describe(name=name, extended=extended):
                relation = self._catalog.relation(name)
                return describe(self._catalog, relation, self._queries, extended=extended)
            case Print():
                return TopicPrinter(statement, self._settings, self._admin, self._activity).result()
            case Explain():
                return self._explain(statement)
        raise SqlError(f"{type(statement).__name__} is not supported")

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
                return TableResult(["property", "value"], rows)

    def _explain(self, statement: Explain) -> Result:
        inner = statement.statement
        heading = ""
        if statement.query_id is not None:
            found = self._catalog.query(statement.query_id)
            if found is None:
                raise SqlError(f"no query {statement.query_id!r}; SHOW QUERIES lists all")
            heading = f"{found.query_id}: {self._queries.status(found)}\n"
            inner = parse_statement(found.statement)
        if isinstance(inner, SelectStatement) and inner.query.emit is None:
            return self._explain_bounded(inner.query)
        if not isinstance(inner, SelectStatement | CreateAs | InsertSelect):
            raise SqlError("EXPLAIN needs a query or the id of a query")
        return TextResult(heading + self._explained(inner.query))

    def _explained(self, query: Query) -> str:
        def output(frame: object, batch_id: int) -> None:
            """A placeholder for the query's sink."""

        plan = plan_query(query, self._relations())
        return Topology("query", CallSink(plan.shown(), output)).explain()

    def _explain_bounded(self, query: Query) -> Result:
        text, used = bounded_text(query, self._relations().by_name)
        topics = "".join(f"\nreads {item.name}: topic {item.topic} to its end" for item in used)
        return TextResult(f"Spark SQL: {text}{topics}")
