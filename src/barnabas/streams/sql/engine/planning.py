"""Plans queries, and derives the relations of CREATE ... AS SELECT from them."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from barnabas.streams.run import output_schema
from barnabas.streams.schema import Schema
from barnabas.streams.sql.catalog import StatementLog
from barnabas.streams.sql.engine.session import OFFSET_RESET, LazySparkSession, spark_errors
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.parser import spark_type
from barnabas.streams.sql.language.statements import Column, CreateAs, KeyRole, Query, RelationKind
from barnabas.streams.sql.properties import (
    check_avro,
    check_names,
    check_written,
    delimiter,
    formats,
    given_avro,
)
from barnabas.streams.sql.relations import Format, Relation
from barnabas.streams.sql.translation.expressions import check_replayable
from barnabas.streams.sql.translation.plan import StreamingPlan, plan_query
from barnabas.streams.sql.translation.records import DEAD_LETTERS, SKIP
from barnabas.streams.sql.translation.scope import Relations, at_query

T = TypeVar("T")


class Planning:
    """Plans queries over the relations of the catalog, with the session's settings."""

    def __init__(self, log: StatementLog, lazy_session: LazySparkSession) -> None:
        self._log = log
        self._lazy_session = lazy_session

    def relations(self, settings: Mapping[str, str], on_error: str = SKIP) -> Relations:
        """Returns the relations that queries can read now."""
        by_name = {relation.name.lower(): relation for relation in self._log.catalog.relations}
        return Relations(by_name, settings[OFFSET_RESET], on_error)

    def written(self, query: Query, settings: Mapping[str, str]) -> StreamingPlan:
        """Returns the plan of a query that writes."""
        with_query_position(query, lambda: check_replayable(query.tree))
        return plan_query(query, self.relations(settings, DEAD_LETTERS))

    def pushed(self, query: Query, settings: Mapping[str, str]) -> StreamingPlan:
        """Returns the plan of a push query (EMIT CHANGES)."""
        return plan_query(query, self.relations(settings))

    def schema(self, query: Query, plan: StreamingPlan) -> Schema:
        """Returns the columns with Spark's types; Spark's errors become SqlErrors with a
        position."""
        spark = self._lazy_session.session
        with spark_errors(query), self._lazy_session.activity.step("checking the query"):
            return output_schema(plan.full(), spark)


def with_query_position(query: Query, work: Callable[[], T]) -> T:
    """Runs a check; its SqlErrors get the position of the query."""
    try:
        return work()
    except SqlError as error:
        raise at_query(error, query) from None


def derived(statement: CreateAs, plan: StreamingPlan, schema: Schema) -> Relation:
    """Returns the relation of a statement; SqlError if the statement and its query contradict each
    other.

    `schema` is that of the plan's rows, from Spark.
    """
    properties = statement.properties
    check_names(properties)
    _check_kind(statement, plan)
    first = plan.sources[0]
    kept = plan.key_texts is None
    value_format, key_format = formats(
        properties, value=first.value_format, key=first.key_format if kept else Format.KAFKA
    )
    if kept and key_format is not first.key_format:
        raise SqlError(
            f"the key stays as it is in {first.name}, in format {first.key_format.value}: "
            "PARTITION BY a column to write it in another"
        )
    if len(plan.key) > 1 and key_format is Format.KAFKA:
        key_format = Format.JSON
    relation = Relation(
        name=statement.name,
        kind=statement.kind,
        topic=properties.get("kafka_topic", statement.name),
        columns=_columns(statement.kind, plan, schema),
        value_format=value_format,
        key_format=key_format,
        delimiter=delimiter(properties) if "value_delimiter" in properties else first.delimiter,
        timestamp=properties.get("timestamp"),
        timestamp_format=properties.get("timestamp_format"),
        keys_in_value=_keys_in_value(plan, kept),
        window=plan.window,
        avro_schema=given_avro(properties, value_format),
    )
    _check(relation)
    return relation


def _keys_in_value(plan: StreamingPlan, kept: bool) -> bool:
    """Returns whether the value contains the key: with a window always, else as in the source."""
    if plan.window is not None:
        return True
    return kept and bool(plan.key) and plan.sources[0].keys_in_value


def _check_kind(statement: CreateAs, plan: StreamingPlan) -> None:
    name = statement.name
    if statement.kind is RelationKind.STREAM and plan.is_table:
        raise SqlError(f"the result has one row for each key: CREATE TABLE {name} AS …")
    if statement.kind is RelationKind.TABLE and not plan.is_table:
        raise SqlError(
            f"the result is a stream: CREATE STREAM {name} AS …, or GROUP BY the key and take "
            "LATEST_BY_OFFSET of each column to make a table of it"
        )
    if statement.kind is RelationKind.TABLE and not plan.key:
        raise SqlError("a table needs its key: select every expression of GROUP BY too")
    if plan.limit is not None:
        raise SqlError("a query that writes runs until it is terminated: omit LIMIT")


def _columns(kind: RelationKind, plan: StreamingPlan, schema: Schema) -> tuple[Column, ...]:
    role = KeyRole.PRIMARY if kind is RelationKind.TABLE else KeyRole.KEY
    names = [name for name, _ in plan.all_columns]
    return tuple(
        Column(name, spark_type(item.type), role if name in plan.key else KeyRole.NONE)
        for name, item in zip(names, schema.fields, strict=True)
    )


def _check(relation: Relation) -> None:
    if not relation.value_columns:
        raise SqlError(
            "the record's value would be empty, because every column is in the key: select another "
            "column, or AS_VALUE(…) AS another_name"
        )
    check_written(relation)
    check_avro(relation)
    if relation.value_format is Format.KAFKA and len(relation.value_columns) > 1:
        raise SqlError("value_format KAFKA holds one column; use JSON for several")
    if relation.timestamp is not None and relation.column(relation.timestamp) is None:
        raise SqlError(f"timestamp: no column {relation.timestamp!r}")


def check_insert(target: Relation, plan: StreamingPlan, schema: Schema) -> None:
    """Raises SqlError unless INSERT INTO … SELECT returns the target's columns, in their order."""
    if target.kind is RelationKind.TABLE:
        raise SqlError(f"{target.name} is a table: only the query that defines it can write to it")
    check_written(target)
    if plan.is_table:
        raise SqlError(f"the result is a table, and {target.name} a stream")
    expected = [(column.name, column.type) for column in target.columns]
    given = [(field.name, spark_type(field.type)) for field in schema.fields]
    if _lower(expected) != _lower(given):
        raise SqlError(
            f"{target.name} has the columns {_text(expected)}, the query returns {_text(given)}"
        )


def _lower(columns: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name.lower(), kind.lower()) for name, kind in columns]


def _text(columns: Sequence[tuple[str, str]]) -> str:
    return "(" + ", ".join(f"{name} {kind}" for name, kind in columns) + ")"
