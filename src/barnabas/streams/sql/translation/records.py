"""Sources and sinks of relations: how columns are encoded in the keys and values of records.

| key format | columns | bytes of the key |
|---|---|---|
| KAFKA | one STRING | UTF-8 |
| KAFKA | one INT or BIGINT | 4 or 8 bytes, big-endian, as Kafka's serializers write them |
| DELIMITED | one | its text |
| JSON | one | the JSON value alone |
| JSON | several | a JSON object |

If the key columns are also in the value (`keys_in_value`), the key of one column is its text, and
the key of several columns, or of a window, a JSON object.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from barnabas.streams.nodes import (
    Filter,
    Named,
    Project,
    Rekey,
    RowSink,
    Topic,
    TopicSource,
    TopologyNode,
)
from barnabas.streams.schema import Schema, quoted
from barnabas.streams.sql.language.errors import SqlError, UnsupportedError
from barnabas.streams.sql.language.statements import Column, RelationKind
from barnabas.streams.sql.relations import AVRO_FORMATS, Format, Relation, derived_schema, field_of

VALUE = "value"
"""The only column of a topic that is read as text or as bytes."""
_STRUCTURED = {
    Format.JSON: "json",
    Format.AVRO: "avro",
    Format.CONFLUENT_AVRO: "confluent-avro",
}

SKIP, DEAD_LETTERS = "null", "dlq"
"""The reaction to a value that cannot be decoded: it is skipped, or written to `<topic>.dlq`."""


def source(relation: Relation, starting: str = "earliest", on_error: str = SKIP) -> TopologyNode:
    """Returns the rows of a relation: its columns under their names, independent of the encoding.

    A table is always read from the beginning. A record without a value deletes a row of a table; in
    a stream it is skipped.
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
    node: TopologyNode = TopicSource(topic, table)
    if not table:
        node = Filter(node, "NOT _tombstone")
    if direct:
        return node
    return Project(node, tuple((column.name, texts[column.name]) for column in relation.columns))


def _avro_option(relation: Relation) -> tuple[tuple[str, str], ...]:
    if relation.value_format not in AVRO_FORMATS:
        return ()
    text = relation.avro_schema
    return (("value.schema", derived_schema(relation.value_columns) if text is None else text),)


def _fields(relation: Relation) -> list[Column]:
    """Returns the columns of the value with the spelling and types of the format."""
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
    """Returns the expression of each value column over the columns of the topic's rows."""
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
    """Returns the expression of a row's time, if a column has it."""
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
    rows: TopologyNode, values: Mapping[str, str], key: Sequence[str] | None, relation: Relation
) -> RowSink:
    """Returns the sink that writes rows to a relation.

    `values` has the expression of each column over the rows; `key` has the expressions of the key
    columns, or is None to keep the key of the rows.
    """
    codec = KeyCodec(relation)
    keyed = rows if key is None else Rekey(rows, codec.encoded(key))
    columns = relation.value_columns
    selected = Project(keyed, _written(relation, columns, values))
    topic = Topic(
        relation.topic,
        value_format=_value_format(relation),
        key_type=codec.key_type,
        key_format=codec.key_format,
        options=_avro_option(relation),
    )
    return RowSink(selected, topic)


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


STRING, RAW = "string", "raw"
BYTES = {"INT": 4, "BIGINT": 8}


@dataclass(frozen=True, slots=True)
class KeyCodec:
    """Reads and writes `_key`; `key_format` and `key_type` are those of a `Topic`."""

    relation: Relation

    @property
    def key_format(self) -> str:
        columns = self.relation.key_columns
        if not columns:
            return RAW
        if self.relation.keys_in_value or self.relation.key_format is not Format.KAFKA:
            return STRING
        return RAW if columns[0].type in BYTES else STRING

    @property
    def key_type(self) -> str:
        return "binary" if self.key_format == RAW else "string"

    @property
    def plain(self) -> bool:
        """Whether the key is the text of its only column."""
        columns = self.relation.key_columns
        return (
            not self.relation.keys_in_value
            and len(columns) == 1
            and columns[0].type == "STRING"
            and self.relation.key_format is not Format.JSON
        )

    def columns(self, key: str = "_key") -> dict[str, str]:
        """Returns the expression of each key column, by name, over the key."""
        columns = self.relation.key_columns
        if self.relation.keys_in_value or not columns:
            return {}
        if self.relation.key_format is Format.JSON:
            return _from_json(columns, key)
        return {columns[0].name: _decoded(columns[0], key, self.relation.key_format)}

    def encoded(self, values: Sequence[str]) -> str:
        """Returns the SQL expression of a record's key; `values` are those of the key columns."""
        columns = self.relation.key_columns
        if len(columns) == 1 and len(values) == 1:
            return self._one(columns[0], values[0])
        if len(values) == 1:  # a key that is not a column
            return f"cast(cast({values[0]} AS STRING) AS BINARY)"
        names = [column.name for column in columns] or [f"k{n}" for n in range(len(values))]
        names += ["WINDOWSTART", "WINDOWEND"][: len(values) - len(names)]
        text = _object(list(zip(names, values, strict=True)))
        return text if columns else f"cast({text} AS BINARY)"

    def _one(self, column: Column, value: str) -> str:
        if self.relation.keys_in_value or self.relation.key_format is Format.DELIMITED:
            return f"cast({value} AS STRING)"
        if self.relation.key_format is Format.JSON:
            text = _object([("k", value)])
            return f"substring({text}, 6, length({text}) - 6)"
        return _kafka_bytes(column, value)


def _object(pairs: Sequence[tuple[str, str]]) -> str:
    inner = ", ".join(f"{value} AS {quoted(name)}" for name, value in pairs)
    return f"to_json(struct({inner}), map('ignoreNullFields', 'false'))"


def _from_json(columns: Sequence[Column], key: str) -> dict[str, str]:
    if len(columns) == 1:
        wrapped = f"concat('{{\"k\":', {key}, '}}')"
        return {columns[0].name: f"from_json({wrapped}, 'k {columns[0].type}').k"}
    ddl = ", ".join(f"{quoted(column.name)} {column.type}" for column in columns)
    return {column.name: f"from_json({key}, '{ddl}').{quoted(column.name)}" for column in columns}


def _decoded(column: Column, key: str, written: Format) -> str:
    if written is Format.DELIMITED:
        return f"cast({key} AS {column.type})"
    return kafka_value(column, key)


def kafka_value(column: Column, raw: str) -> str:
    """Returns a column decoded from the bytes of Kafka's serializers; text is decoded already."""
    if column.type == "STRING":
        return raw
    _check_kafka(column)
    number = f"cast(conv(hex({raw}), 16, -10) AS BIGINT)"
    if column.type == "INT":
        return f"cast({number} - if({number} > 2147483647, 4294967296, 0) AS INT)"
    return number


def _kafka_bytes(column: Column, value: str) -> str:
    if column.type == "STRING":
        return f"cast({value} AS STRING)"
    _check_kafka(column)
    digits = BYTES[column.type] * 2
    # hex() of a negative number has 16 digits, of a small one as few as one.
    return f"unhex(right(lpad(hex(cast({value} AS BIGINT)), 16, '0'), {digits}))"


def _check_kafka(column: Column) -> None:
    if column.type not in BYTES:
        raise UnsupportedError(
            f"column {column.name}: the KAFKA format supports STRING, INT and BIGINT, not "
            f"{column.type}: use JSON"
        )


def kafka_bytes(column: Column, value: str) -> str:
    """Returns a column encoded as by Kafka's serializers: bytes, or text."""
    return _kafka_bytes(column, value)
