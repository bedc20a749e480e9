"""INSERT INTO ... VALUES: encodes rows as records and sends them, without Spark."""

import base64
import datetime
import decimal
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from barnabas.clients.producer import Producer
from barnabas.spark import formats
from barnabas.streams.sql.engine.results import Result, TextResult
from barnabas.streams.sql.language.errors import SqlError, UnsupportedError
from barnabas.streams.sql.language.statements import Column, InsertValues, RelationKind
from barnabas.streams.sql.properties import check_written
from barnabas.streams.sql.relations import (
    Format,
    Relation,
    close_name,
    derived_schema,
    field_of,
    json_text,
)
from barnabas.streams.sql.translation.scope import at_node

ROWTIME = "rowtime"
SEND_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class InsertedRecord:
    """A record to send; `timestamp` None means the current time."""

    key: bytes | None
    value: bytes | None
    timestamp: int | None


def records(statement: InsertValues, relation: Relation) -> list[InsertedRecord]:
    """Returns the records of all rows; SqlError names a value that does not match its column."""
    names = list(statement.columns) or [column.name for column in relation.columns]
    for name in names:
        if name.lower() != ROWTIME and relation.column(name) is None:
            known = [column.name for column in relation.columns]
            raise SqlError(f"no column {name!r} in {relation.name}{close_name(name, known)}")
    return [_record(row, names, relation) for row in statement.rows]


def _record(row: Sequence[exp.Expr], names: Sequence[str], relation: Relation) -> InsertedRecord:
    if len(row) != len(names):
        raise at_node(SqlError(f"{len(names)} columns, but {len(row)} values"), row[0])
    given = {name.lower(): _constant(tree) for name, tree in zip(names, row, strict=True)}
    time = given.pop(ROWTIME, None)
    if time is not None and not isinstance(time, int):
        raise SqlError("ROWTIME must be a number of milliseconds")
    converted = {
        column.name: _converted(given.get(column.name.lower()), column)
        for column in relation.columns
    }
    if relation.kind is RelationKind.TABLE and any(
        converted[column.name] is None for column in relation.key_columns
    ):
        raise SqlError(f"a row of the table {relation.name} needs a key")
    return InsertedRecord(
        encoded_key(relation, converted), encoded_value(relation, converted), time
    )


def encoded_key(relation: Relation, row: Mapping[str, object]) -> bytes | None:
    """Returns the record's key, encoded as by `translation.records`."""
    columns = relation.key_columns
    if not columns or all(row.get(column.name) is None for column in columns):
        return None
    if len(columns) > 1:
        return json_line({column.name: row[column.name] for column in columns})
    value = row[columns[0].name]
    if relation.keys_in_value:
        return _text(value).encode()
    if relation.key_format is Format.JSON:
        return json_line(value)
    if relation.key_format is Format.DELIMITED:
        return _text(value).encode()
    return _kafka(value, columns[0])


def encoded_value(relation: Relation, row: Mapping[str, object]) -> bytes | None:
    """Returns the record's value."""
    columns = relation.value_columns
    values = {column.name: row.get(column.name) for column in columns}
    match relation.value_format:
        case Format.JSON:
            return json_line(values)
        case Format.AVRO | Format.CONFLUENT_AVRO:
            return _avro(relation, values)
        case Format.DELIMITED:
            return _delimited(list(values.values()), relation.delimiter).encode()
        case Format.KAFKA:
            only = next(iter(values.values()), None)
            return None if only is None else _kafka(only, columns[0])
        case _:
            return None


def _avro(relation: Relation, values: Mapping[str, object]) -> bytes:
    check_written(relation)
    text = relation.avro_schema
    schema = derived_schema(relation.value_columns) if text is None else text
    row = {}
    for column in relation.value_columns:
        name = column.name if text is None else field_of(text, column).name
        row[name] = _AVRO.get(column.type, _same)(values[column.name])
    try:
        return formats.avro_writer(json.loads(schema))(row)
    except (ValueError, TypeError, AttributeError) as error:
        raise SqlError(f"the row does not fit the Avro schema: {error}") from None


def _same(value: object) -> object:
    return value


def _utc(value: str | None) -> datetime.datetime | None:
    found = None if value is None else datetime.datetime.fromisoformat(value)
    return found if found is None or found.tzinfo else found.replace(tzinfo=datetime.UTC)


_AVRO: dict[str, Callable[[Any], object]] = {
    "DATE": lambda value: None if value is None else datetime.date.fromisoformat(value),
    "TIMESTAMP": _utc,
}


def json_line(value: object) -> bytes:
    return json.dumps(
        value, ensure_ascii=False, separators=(",", ":"), default=_json_value
    ).encode()


def _json_value(value: object) -> object:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, decimal.Decimal):
        return float(value)
    return str(value)


def _delimited(values: list[object], delimiter: str) -> str:
    return delimiter.join(
        _quoted("" if item is None else _text(item), delimiter) for item in values
    )


def _quoted(text: str, delimiter: str) -> str:
    if delimiter in text or '"' in text or "\n" in text:
        escaped = text.replace('"', '\\"')
        return f'"{escaped}"'
    return text


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return (
        value
        if isinstance(value, str)
        else json_text(value)
        if isinstance(value, list | dict)
        else str(value)
    )


def _kafka(value: Any, column: Column) -> bytes:
    match column.type:
        case "STRING":
            return str(value).encode()
        case "INT":
            return int(value).to_bytes(4, "big", signed=True)
        case "BIGINT":
            return int(value).to_bytes(8, "big", signed=True)
        case _:
            raise UnsupportedError(f"the KAFKA format does not support {column.type}: use JSON")


def _constant(tree: exp.Expr) -> Any:
    """Returns the value of a constant; SqlError for other expressions."""
    reader = _CONSTANTS.get(type(tree))
    if reader is None:
        reason = f"{tree.sql()} is not a constant, as VALUES needs: use INSERT INTO … SELECT"
        raise at_node(SqlError(reason), tree)
    return reader(tree)


def _literal(tree: exp.Expr) -> object:
    if tree.is_string:
        return str(tree.this)
    text = str(tree.this)
    return int(text) if text.isdigit() else decimal.Decimal(text)


def _negative(tree: exp.Expr) -> Any:
    return -_constant(tree.this)


def _map(tree: exp.Expr) -> dict[str, object]:
    keys, values = tree.args.get("keys"), tree.args.get("values")
    if keys is None or values is None:
        return {}
    names = [str(_constant(item)) for item in keys.expressions]
    return dict(zip(names, map(_constant, values.expressions), strict=True))


def _struct(tree: exp.Expr) -> dict[str, object]:
    found = {}
    for item in tree.expressions:
        name = item.alias if isinstance(item, exp.Alias) else item.this.name
        value = item.this if isinstance(item, exp.Alias) else item.expression
        found[str(name)] = _constant(value)
    return found


_CONSTANTS: dict[type[exp.Expr], Callable[[exp.Expr], object]] = {
    exp.Literal: _literal,
    exp.Null: lambda _: None,
    exp.Boolean: lambda tree: bool(tree.this),
    exp.Neg: _negative,
    exp.Paren: lambda tree: _constant(tree.this),
    exp.Array: lambda tree: [_constant(item) for item in tree.expressions],
    exp.VarMap: _map,
    exp.Map: _map,
    exp.Struct: _struct,
    exp.Cast: lambda tree: _constant(tree.this),
    exp.TryCast: lambda tree: _constant(tree.this),
}


def _converted(value: object, column: Column) -> object:
    """Returns a constant converted to a column's type; SqlError if that is impossible."""
    if value is None:
        return None
    kind = column.type.split("(")[0].split("<")[0]
    fit = _CONVERTERS.get(kind)
    try:
        return value if fit is None else fit(value)
    except (TypeError, ValueError, ArithmeticError):
        raise SqlError(
            f"column {column.name}: {str(value)!r} is not of type {column.type}"
        ) from None


def _whole(value: object) -> int:
    number = decimal.Decimal(str(value))
    if isinstance(value, bool) or number != number.to_integral_value():
        raise ValueError(value)
    return int(number)


def _truth(value: object) -> bool:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}[str(value).lower()]


def _instance(kind: type | tuple[type, ...]) -> Callable[[Any], object]:
    def check(value: object) -> object:
        if not isinstance(value, kind):
            raise ValueError(value)
        return value

    return check


_CONVERTERS: dict[str, Callable[[Any], object]] = {
    "STRING": lambda value: _text(value),
    "INT": _whole,
    "BIGINT": _whole,
    "SMALLINT": _whole,
    "TINYINT": _whole,
    "DOUBLE": float,
    "FLOAT": float,
    "DECIMAL": lambda value: decimal.Decimal(str(value)),
    "BOOLEAN": _truth,
    "DATE": lambda value: datetime.date.fromisoformat(str(value)).isoformat(),
    "TIMESTAMP": lambda value: datetime.datetime.fromisoformat(str(value)).isoformat(),
    "ARRAY": _instance(list),
    "MAP": _instance(dict),
    "STRUCT": _instance(dict),
    "BINARY": lambda value: str(value).encode(),
}


class InsertStatements:
    """INSERT INTO ... VALUES; the first statement creates the producer."""

    def __init__(self, settings: Mapping[str, object]) -> None:
        self._settings = settings
        self._producer: Producer | None = None

    def insert(self, statement: InsertValues, relation: Relation) -> Result:
        """Sends all rows; returns when they are acknowledged."""
        made = records(statement, relation)
        if self._producer is None:
            self._producer = Producer(self._settings)
        sent = [
            self._producer.send(
                relation.topic, record.value, key=record.key, timestamp=record.timestamp
            )
            for record in made
        ]
        for future in sent:
            future.result(timeout=SEND_SECONDS)
        return TextResult(f"{len(sent)} row{'' if len(sent) == 1 else 's'} into {relation.name}")

    def close(self) -> None:
        if self._producer is not None:
            self._producer.close()
