"""A record's key and the columns of it, as Spark expressions.

| key format | columns | the key's bytes |
|---|---|---|
| KAFKA | one STRING | UTF-8 |
| KAFKA | one INT or BIGINT | 4 or 8 bytes, the highest first, as Kafka's serializers write them |
| DELIMITED | one | its text |
| JSON | one | the JSON value alone |
| JSON | several | an object of them |

Where the key columns are in the value too (`keys_in_value`), one column's key is its text, and the
key of several, or of a window, an object in JSON.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from barnabas.streams.schema import quoted
from barnabas.streams.sql.catalog.relations import Format, Relation
from barnabas.streams.sql.language.errors import UnsupportedError
from barnabas.streams.sql.language.statements import Column

STRING, RAW = "string", "raw"
BYTES = {"INT": 4, "BIGINT": 8}


@dataclass(frozen=True, slots=True)
class KeyCodec:
    """How `_key` is read and written; `key_format` and `key_type` are a `Topic`'s."""

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
        """Whether the key is its only column as it stands."""
        columns = self.relation.key_columns
        return (
            not self.relation.keys_in_value
            and len(columns) == 1
            and columns[0].type == "STRING"
            and self.relation.key_format is not Format.JSON
        )

    def columns(self, key: str = "_key") -> dict[str, str]:
        """The expression of each key column, by name, from the key."""
        columns = self.relation.key_columns
        if self.relation.keys_in_value or not columns:
            return {}
        if self.relation.key_format is Format.JSON:
            return _from_json(columns, key)
        return {columns[0].name: _decoded(columns[0], key, self.relation.key_format)}

    def encoded(self, values: Sequence[str]) -> str:
        """The key of these values of the key columns."""
        columns = self.relation.key_columns
        if len(columns) == 1 and len(values) == 1:
            return self._one(columns[0], values[0])
        if len(values) == 1:  # a key that no column shows
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
    """A column from the bytes of Kafka's serializers; text comes as text already."""
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
            f"the KAFKA format of {column.name} {column.type} cannot be read by Spark; "
            "there are STRING, INT and BIGINT: use JSON for others"
        )


def kafka_bytes(column: Column, value: str) -> str:
    """A column as the bytes, or the text, of Kafka's serializers."""
    return _kafka_bytes(column, value)
