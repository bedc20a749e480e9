"""Python functions over rows: records made of Arrow batches, results made batches again.

The functions go to Spark's workers with all they refer to. A tombstone is never shown to them.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from barnabas.model.errors import LocalError
from barnabas.streams.engine.row_errors import RowErrors, TaskErrors
from barnabas.streams.engine.rows import META, own_columns
from barnabas.streams.nodes import Map
from barnabas.streams.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

BatchFunction = Callable[[Iterable["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]
CONVERSION_ERRORS = (TypeError, ValueError, ArithmeticError)
"""Exceptions of Arrow for a value that does not fit its type; Arrow's own are subclasses."""


def record_maker(record: type | None, names: Sequence[str]) -> Callable[[dict[str, Any]], Any]:
    """How a row becomes what a function is called with."""
    if record is not None and tuple(f.name for f in dataclasses.fields(record)) == tuple(names):
        return lambda row: record(**row)
    return lambda row: SimpleNamespace(**row)


def as_values(result: Any, names: Sequence[str]) -> dict[str, Any]:
    """What a function gave, as values by column: a dataclass, a mapping, a tuple or one value."""
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return dataclasses.asdict(result)
    if isinstance(result, dict):
        return result
    if isinstance(result, SimpleNamespace):
        return vars(result)
    if isinstance(result, tuple) and len(result) == len(names):
        return dict(zip(names, result, strict=True))
    if len(names) == 1:
        return {names[0]: result}
    raise LocalError(f"a function gave {result!r} where columns {', '.join(names)} were wanted")


def mapped(frame: DataFrame, node: Map, record: type | None, errors: RowErrors) -> DataFrame:
    """The rows with a function's results in place of their own columns."""
    kept = _ordered_columns(frame)
    target = _target(kept, node.into)
    if node.style in ("row", "rows"):
        many = node.style == "rows"
        work = _by_row(node.function, node.into.names, record, target, errors, many=many)
    else:
        work = _by_batch(node.function, target, errors, pandas=node.style == "pandas")
    return kept.mapInArrow(work, target)


def selected(
    frame: DataFrame, function: Callable[[Any], bool], record: type | None, errors: RowErrors
) -> DataFrame:
    """The rows with a column `_holds`: the result of a predicate."""
    kept = _ordered_columns(frame)
    target = StructType(list(kept.schema.fields)).add("_holds", "boolean")
    return kept.mapInArrow(_one_column(function, record, bool, target, errors), target)


def rekeyed(
    frame: DataFrame, function: Callable[[Any], Any], record: type | None, errors: RowErrors
) -> DataFrame:
    """The rows with a function's result, as text, for a key."""
    kept = _ordered_columns(frame)
    target = StructType(list(kept.schema.fields)).add("_new_key", "string")
    made = kept.mapInArrow(_one_column(function, record, _text, target, errors), target)
    return made.drop("_key").withColumnRenamed("_new_key", "_key")


def _ordered_columns(frame: DataFrame) -> DataFrame:
    return frame.select(*META, *(f"`{name}`" for name in own_columns(frame)))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _target(kept: DataFrame, into: Schema) -> StructType:
    meta = [kept.schema[name] for name in META]
    return StructType([*meta, *struct_of(into).fields])


def struct_of(schema: Schema) -> StructType:
    """A schema in Spark's types."""
    made = StructType.fromDDL(schema.ddl)
    assert isinstance(made, StructType)
    return made


def _arrow(target: StructType) -> "pa.Schema":
    return to_arrow_schema(target, timezone="UTC")


# --- functions of one record ---


def _by_row(
    function: Callable[[Any], Any],
    names: tuple[str, ...],
    record: type | None,
    target: StructType,
    errors: RowErrors,
    *,
    many: bool,
) -> BatchFunction:
    schema = _arrow(target)

    def call(value: Any) -> list[dict[str, Any] | None]:
        found = list(function(value)) if many else [function(value)]
        return [None if result is None else as_values(result, names) for result in found]

    def build(
        batch: "pa.RecordBatch", rows: list[tuple[int, dict[str, Any] | None]]
    ) -> "pa.RecordBatch":
        import pyarrow as pa

        meta = batch.select(list(META)).take(pa.array([at for at, _ in rows], pa.int64()))
        gone = pa.array([result is None for _, result in rows], pa.bool_())
        arrays = [
            gone if name == "_tombstone" else meta.column(name).cast(schema.field(name).type)
            for name in META
        ]
        values = [result or {} for _, result in rows]
        arrays += [pa.array([v.get(n) for v in values], schema.field(n).type) for n in names]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    return _row_by_row(call, record, build, errors, tombstone=[] if many else [None])


def _one_column(
    function: Callable[[Any], Any],
    record: type | None,
    convert: Callable[[Any], Any],
    target: StructType,
    errors: RowErrors,
) -> BatchFunction:
    """The rows with one more column, the last of `target`: the function's converted result."""
    schema = _arrow(target)

    def build(batch: "pa.RecordBatch", rows: list[tuple[int, Any]]) -> "pa.RecordBatch":
        import pyarrow as pa

        kept = batch.take(pa.array([at for at, _ in rows], pa.int64()))
        columns = [kept.column(name).cast(schema.field(name).type) for name in schema.names[:-1]]
        answer = pa.array([result for _, result in rows], schema.field(schema.names[-1]).type)
        return pa.RecordBatch.from_arrays([*columns, answer], schema=schema)

    def call(value: Any) -> list[Any]:
        return [convert(function(value))]

    return _row_by_row(call, record, build, errors, tombstone=[convert(None)])


def _row_by_row(
    call: Callable[[Any], list[Any]],
    record: type | None,
    build: Callable[["pa.RecordBatch", list[tuple[int, Any]]], "pa.RecordBatch"],
    errors: RowErrors,
    *,
    tombstone: list[Any],
) -> BatchFunction:
    """Calls a function for each row; rows without a value give `tombstone`.

    `build` makes a batch of results, each with the index of its row. A result of a wrong type shows
    only there: the results are then built one by one, to find the rows that have to be left out.
    """

    def work(batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        failures = errors.begin()
        for batch in batches:
            results = list(_results(batch, call, record, failures, tombstone))
            try:
                yield build(batch, results)
            except CONVERSION_ERRORS:
                yield build(batch, list(_buildable(batch, results, build, failures)))
        failures.finish()

    return work


def _results(
    batch: "pa.RecordBatch",
    call: Callable[[Any], list[Any]],
    record: type | None,
    failures: TaskErrors,
    tombstone: list[Any],
) -> Iterator[tuple[int, Any]]:
    own = [name for name in batch.schema.names if name not in META]
    make = record_maker(record, own)
    gone = batch.column("_tombstone").to_pylist()
    for index, row in enumerate(batch.select(own).to_pylist()):
        found = tombstone
        if not gone[index]:
            try:
                found = call(make(row))
            except Exception as error:  # noqa: BLE001 - a user's function may raise anything
                failures.failed(batch, index, error)
                continue
        for result in found:
            yield index, result


def _buildable(
    batch: "pa.RecordBatch",
    results: list[tuple[int, Any]],
    build: Callable[["pa.RecordBatch", list[tuple[int, Any]]], "pa.RecordBatch"],
    failures: TaskErrors,
) -> Iterator[tuple[int, Any]]:
    for index, group in itertools.groupby(results, key=lambda result: result[0]):
        of_row = list(group)
        try:
            build(batch, of_row)
        except CONVERSION_ERRORS as error:
            failures.failed(batch, index, error)
            continue
        yield from of_row


# --- functions of whole batches ---


def _by_batch(
    function: Callable[[Any], Any], target: StructType, errors: RowErrors, *, pandas: bool
) -> BatchFunction:
    schema = _arrow(target)

    def call(batch: "pa.RecordBatch") -> "pa.RecordBatch":
        import pyarrow as pa

        own = batch.select([name for name in batch.schema.names if name not in META])
        result = function(own.to_pandas() if pandas else own)
        if pandas:
            result = pa.RecordBatch.from_pandas(result, preserve_index=False)
        if result.num_rows != batch.num_rows:
            raise LocalError(
                f"a function gave {result.num_rows} rows for {batch.num_rows}: use flat_map"
            )
        sources = [batch] * len(META) + [result] * (len(schema.names) - len(META))
        arrays = [
            source.column(field.name).cast(field.type)
            for source, field in zip(sources, schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def work(batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        failures = errors.begin()
        for batch in batches:
            try:
                yield call(batch)
            except Exception:
                if failures.stops:
                    raise
                yield from _one_by_one(batch, call, failures)
        failures.finish()

    return work


def _one_by_one(
    batch: "pa.RecordBatch",
    call: Callable[["pa.RecordBatch"], "pa.RecordBatch"],
    failures: TaskErrors,
) -> Iterator["pa.RecordBatch"]:
    """The batch that failed, a row at a time, to leave out only the rows that fail."""
    for index in range(batch.num_rows):
        try:
            yield call(batch.slice(index, 1))
        except Exception as error:  # noqa: BLE001 - a user's function may raise anything
            failures.failed(batch, index, error)
