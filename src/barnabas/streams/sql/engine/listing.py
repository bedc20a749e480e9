"""SHOW, DESCRIBE and PRINT: what is there, without Spark."""

from collections.abc import Iterator, Mapping
from typing import Any

from barnabas.admin import Admin
from barnabas.clients.simple import SimpleConsumer
from barnabas.records.record import Record
from barnabas.streams.sql.catalog.avro import derived_schema
from barnabas.streams.sql.catalog.catalog import Catalog
from barnabas.streams.sql.catalog.relations import AVRO_FORMATS, Relation
from barnabas.streams.sql.engine.results import Row, Streamed, Table
from barnabas.streams.sql.engine.running import Queries
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.statements import Print, RelationKind

FETCH_WAIT_MS = 100


def show_relations(catalog: Catalog, kind: RelationKind, *, extended: bool) -> Table:
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
    return Table([*columns, "statement"] if extended else columns, rows)


def show_topics(admin: Admin) -> Table:
    names = [listing.name for listing in admin.list_topics()]
    # One that is deleted between the two calls is left out.
    described = admin.describe_topics(names).ok
    rows = [
        {
            "topic": name,
            "partitions": len(described[name].partitions),
            "replicas": described[name].replication_factor,
        }
        for name in sorted(str(name) for name in described)
    ]
    return Table(["topic", "partitions", "replicas"], rows)


def show_queries(catalog: Catalog, queries: Queries) -> Table:
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
    return Table(["query", "status", "reads", "writes", "statement"], rows)


def describe(catalog: Catalog, relation: Relation, queries: Queries, *, extended: bool) -> Table:
    """The columns; extended, everything else as further rows of name and value."""
    rows: list[Row] = [
        {"column": column.name, "type": column.type, "key": column.role.value}
        for column in relation.columns
    ]
    if not extended:
        return Table(["column", "type", "key"], rows)
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
    return Table(["property", "value"], [{"property": k, "value": v} for k, v in facts.items()])


class TopicPrinter:
    """PRINT: the records of all partitions as they come."""

    def __init__(self, statement: Print, settings: Mapping[str, Any], admin: Admin) -> None:
        self._statement = statement
        self._consumer = SimpleConsumer(settings, fetch_max_wait_ms=FETCH_WAIT_MS)
        known = {listing.name for listing in admin.list_topics()}
        if statement.topic not in known:
            self._consumer.close()
            raise SqlError(f"there is no topic {statement.topic!r}")
        self._positions = {
            partition: self._begin(partition)
            for partition in self._consumer.partitions(statement.topic)
        }

    def _begin(self, partition: int) -> int:
        topic = self._statement.topic
        if self._statement.from_beginning:
            return self._consumer.earliest_offset(topic, partition)
        return self._consumer.latest_offset(topic, partition)

    def result(self) -> Streamed:
        columns = ["rowtime", "key", "value", "partition", "offset"]
        return Streamed(columns, self._rows(), self._consumer.close)

    def _rows(self) -> Iterator[Row]:
        printed = seen = 0
        limit = self._statement.limit
        try:
            while True:
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
