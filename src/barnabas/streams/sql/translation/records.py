"""Relations as sources and sinks of the definitions: how columns lie in the records of a topic."""

from collections.abc import Mapping, Sequence

from barnabas.streams.nodes import Named, Node, Rekey, Select, Source, Topic, TopicSink, Where
from barnabas.streams.schema import Schema, quoted
from barnabas.streams.sql.catalog.avro import derived_schema, field_of
from barnabas.streams.sql.catalog.relations import AVRO_FORMATS, Format, Relation
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.statements import Column, RelationKind
from barnabas.streams.sql.translation.keys import KeyCodec, kafka_bytes, kafka_value

VALUE = "value"
"""The one column of a topic that is read as text or as bytes."""
_STRUCTURED = {
    Format.JSON: "json",
    Format.AVRO: "avro",
    Format.CONFLUENT_AVRO: "confluent-avro",
}

SKIP, DEAD_LETTERS = "null", "dlq"
"""What becomes of a value that is not of its format: left out, or put into `<topic>.dlq`."""


def source(relation: Relation, starting: str = "earliest", on_error: str = SKIP) -> Node:
    """The rows of a relation: its columns under their names, whatever the records look like.

    A table is always read from the beginning. A record without a value deletes a table's row; it
    is no row of a stream.
    """
    codec = KeyCodec(relation)
    table = relation.kind is RelationKind.TABLE
    texts = {**codec.columns(), **_value_texts(relation)}
    as_it_is = relation.avro_schema is None and relation.value_format in _STRUCTURED
    direct = as_it_is and (not codec.columns() or codec.plain)
    topic = Topic(
        relation.topic,
        schema=_schema(relation),
        value_format=_value_format(relation),
        key_type=codec.key_type,
        key_format=codec.key_format,
        key_column=relation.key_columns[0].name if direct and codec.plain else None,
        timestamp=_timestamp(relation, texts),
        starting="earliest" if table else starting,
        options=(("on.decode.error", on_error), *_avro_option(relation)),
    )
    node: Node = Source(topic, table)
    if not table:
        node = Where(node, "NOT _tombstone")
    if direct:
        return node
    return Select(node, tuple((column.name, texts[column.name]) for column in relation.columns))


def _avro_option(relation: Relation) -> tuple[tuple[str, str], ...]:
    if relation.value_format not in AVRO_FORMATS:
        return ()
    text = relation.avro_schema
    return (("value.schema", derived_schema(relation.value_columns) if text is None else text),)


def _fields(relation: Relation) -> list[Column]:
    """The columns of the value as its format spells and types them."""
    columns, text = relation.value_columns, relation.avro_schema
    return [column if text is None else field_of(text, column) for column in columns]


def _schema(relation: Relation) -> Schema:
    match relation.value_format:
        case Format.JSON | Format.AVRO | Format.CONFLUENT_AVRO:
            return Schema.of([(c.name, c.type) for c in _fields(relation)])
        case Format.KAFKA if relation.value_columns[0].type != "STRING":
            return Schema.of([(VALUE, "binary")])
        case _:
            return Schema.of([(VALUE, "string")])


def _value_format(relation: Relation) -> str:
    match relation.value_format:
        case Format.JSON | Format.AVRO | Format.CONFLUENT_AVRO:
            return _STRUCTURED[relation.value_format]
        case Format.KAFKA if relation.value_columns[0].type != "STRING":
            return "raw"
        case _:
            return "string"


def _value_texts(relation: Relation) -> dict[str, str]:
    """The expression of each value column over what the topic's rows have."""
    columns = relation.value_columns
    match relation.value_format:
        case Format.DELIMITED:
            ddl = ", ".join(f"{quoted(c.name)} {c.type}" for c in columns)
            row = f"from_csv({VALUE}, {_literal(ddl)}, {_csv_options(relation)})"
            return {c.name: f"{row}.{quoted(c.name)}" for c in columns}
        case Format.KAFKA if columns:
            return {columns[0].name: kafka_value(columns[0], VALUE)}
        case Format.NONE:
            raise SqlError("value_format NONE has no columns")
        case _ if relation.avro_schema is not None:
            pairs = zip(columns, _fields(relation), strict=True)
            return {c.name: f"cast({quoted(f.name)} AS {c.type})" for c, f in pairs}
        case _:
            return {c.name: quoted(c.name) for c in columns}


def _csv_options(relation: Relation) -> str:
    return f"map('sep', {_literal(relation.delimiter)})"


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\t", "\\t")
    return f"'{escaped}'"


def _timestamp(relation: Relation, texts: Mapping[str, str]) -> str | None:
    """The expression of a row's time, if a column has it."""
    if relation.timestamp is None:
        return None
    column = relation.column(relation.timestamp)
    assert column is not None
    text = texts[column.name]
    if relation.timestamp_format is not None:
        return f"to_timestamp({text}, {_literal(relation.timestamp_format)})"
    if column.type == "STRING":
        return f"to_timestamp({text})"
    return f"timestamp_millis({text})" if column.type in ("BIGINT", "INT") else text


def sink(
    rows: Node, values: Mapping[str, str], key: Sequence[str] | None, relation: Relation
) -> TopicSink:
    """Write rows into a relation.

    `values` has the expression of each of its columns over the rows; `key` the expressions of the
    key columns, or None to keep the key that the rows have.
    """
    codec = KeyCodec(relation)
    keyed = rows if key is None else Rekey(rows, codec.encoded(key))
    columns = relation.value_columns
    selected = Select(keyed, _written(relation, columns, values))
    topic = Topic(
        relation.topic,
        value_format=_value_format(relation),
        key_type=codec.key_type,
        key_format=codec.key_format,
        options=_avro_option(relation),
    )
    return TopicSink(selected, topic)


def _written(relation: Relation, columns: Sequence[Column], values: Mapping[str, str]) -> Named:
    texts = [(c.name, values[c.name]) for c in columns]
    match relation.value_format:
        case Format.JSON | Format.AVRO | Format.CONFLUENT_AVRO:
            pairs = zip(_fields(relation), texts, strict=True)
            return tuple((field.name, text) for field, (_, text) in pairs)
        case Format.KAFKA:
            return ((VALUE, kafka_bytes(columns[0], texts[0][1])),)
        case _:
            inner = ", ".join(f"{text} AS {quoted(name)}" for name, text in texts)
            return ((VALUE, f"to_csv(struct({inner}), {_csv_options(relation)})"),)
