"""Calls Python functions with rows: records from Arrow batches, and batches from results.

Spark pickles the functions with everything they refer to and sends them to its workers. Functions
are never called for tombstones.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from barnabas.model.errors import LocalError
from barnabas.streams.engine.row_errors import RowErrors, TaskErrors
from barnabas.streams.engine.rows import META, own_columns
from barnabas.streams.engine.state import BatchState
from barnabas.streams.nodes import Fold, Map
from barnabas.streams.schema import Schema

BatchFunction = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
CONVERSION_ERRORS = (TypeError, ValueError, ArithmeticError)
"""Exceptions that Arrow raises for a value of a wrong type; its own are subclasses of these."""


def record_maker(record: type | None, names: Sequence[str]) -> Callable[[dict[str, Any]], Any]:
    """Returns a function that converts a row to the record that a user's function is called
    with."""
    if record is not None and tuple(f.name for f in dataclasses.fields(record)) == tuple(names):
        return lambda row: record(**row)
    return lambda row: SimpleNamespace(**row)


def as_values(result: object, names: Sequence[str]) -> dict[str, Any]:
    """Returns a function's result as values by column.

    The result is a dataclass, a mapping, a tuple, or one value for a single column.
    """
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
    raise LocalError(f"a function returned {result!r}, which has no columns {', '.join(names)}")


def mapped(frame: DataFrame, node: Map, record: type | None, errors: RowErrors) -> DataFrame:
    """Returns the rows with a function's results in place of their own columns."""
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
    """Returns the rows with an additional column `_holds`: the result of a predicate."""
    kept = _ordered_columns(frame)
    target = StructType(list(kept.schema.fields)).add("_holds", "boolean")
    return kept.mapInArrow(_one_column(function, record, bool, target, errors), target)


def rekeyed(
    frame: DataFrame, function: Callable[[Any], object], record: type | None, errors: RowErrors
) -> DataFrame:
    """Returns the rows with a function's result, as text, as their key."""
    kept = _ordered_columns(frame)
    target = StructType(list(kept.schema.fields)).add("_new_key", "string")
    made = kept.mapInArrow(_one_column(function, record, _text, target, errors), target)
    return made.drop("_key").withColumnRenamed("_new_key", "_key")


def _ordered_columns(frame: DataFrame) -> DataFrame:
    return frame.select(*META, *(f"`{name}`" for name in own_columns(frame)))


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _target(kept: DataFrame, into: Schema) -> StructType:
    meta = [kept.schema[name] for name in META]
    return StructType([*meta, *struct_of(into).fields])


def struct_of(schema: Schema) -> StructType:
    """Returns a schema as a Spark type."""
    made = StructType.fromDDL(schema.ddl)
    assert isinstance(made, StructType)
    return made


def _arrow(target: StructType) -> pa.Schema:
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

    def call(value: object) -> list[dict[str, Any] | None]:
        found = list(function(value)) if many else [function(value)]
        return [None if result is None else as_values(result, names) for result in found]

    def build(
        batch: pa.RecordBatch, rows: list[tuple[int, dict[str, Any] | None]]
    ) -> pa.RecordBatch:
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
    function: Callable[[Any], object],
    record: type | None,
    convert: Callable[[Any], object],
    target: StructType,
    errors: RowErrors,
) -> BatchFunction:
    """Returns a function that adds one column, the last of `target`: the converted result of
    `function`.
    """
    schema = _arrow(target)

    def build(batch: pa.RecordBatch, rows: list[tuple[int, Any]]) -> pa.RecordBatch:
        kept = batch.take(pa.array([at for at, _ in rows], pa.int64()))
        columns = [kept.column(name).cast(schema.field(name).type) for name in schema.names[:-1]]
        results = pa.array([result for _, result in rows], schema.field(schema.names[-1]).type)
        return pa.RecordBatch.from_arrays([*columns, results], schema=schema)

    def call(value: object) -> list[Any]:
        return [convert(function(value))]

    return _row_by_row(call, record, build, errors, tombstone=[convert(None)])


def _row_by_row(
    call: Callable[[Any], list[Any]],
    record: type | None,
    build: Callable[[pa.RecordBatch, list[tuple[int, Any]]], pa.RecordBatch],
    errors: RowErrors,
    *,
    tombstone: list[Any],
) -> BatchFunction:
    """Calls a function for each row; rows without a value give `tombstone`.

    `build` creates a batch of results, each with the index of its row. A result of a wrong type
    shows only there: the results are then built one by one, to find the rows that must be left out.
    """

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
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
    batch: pa.RecordBatch,
    call: Callable[[Any], list[Any]],
    record: type | None,
    failures: TaskErrors,
    tombstone: list[Any],
) -> Iterator[tuple[int, object]]:
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
    batch: pa.RecordBatch,
    results: list[tuple[int, Any]],
    build: Callable[[pa.RecordBatch, list[tuple[int, Any]]], pa.RecordBatch],
    failures: TaskErrors,
) -> Iterator[tuple[int, object]]:
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

    def call(batch: pa.RecordBatch) -> pa.RecordBatch:
        own = batch.select([name for name in batch.schema.names if name not in META])
        result = function(own.to_pandas() if pandas else own)
        if pandas:
            result = pa.RecordBatch.from_pandas(result, preserve_index=False)
        if result.num_rows != batch.num_rows:
            raise LocalError(
                f"a function returned {result.num_rows} rows for {batch.num_rows}: use flat_map"
            )
        sources = [batch] * len(META) + [result] * (len(schema.names) - len(META))
        arrays = [
            source.column(field.name).cast(field.type)
            for source, field in zip(sources, schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
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
    batch: pa.RecordBatch,
    call: Callable[[pa.RecordBatch], pa.RecordBatch],
    failures: TaskErrors,
) -> Iterator[pa.RecordBatch]:
    """Processes a failed batch row by row, to leave out only the rows that fail."""
    for index in range(batch.num_rows):
        try:
            yield call(batch.slice(index, 1))
        except Exception as error:  # noqa: BLE001 - a user's function may raise anything
            failures.failed(batch, index, error)


# --- a function folded over the records of each key ---

_NO_STATE: object = object()
"""The state of a new key; None is the state of a deleted key."""


def fold_step(
    rows: DataFrame, node: Fold, record: type | None, step: BatchState, errors: RowErrors
) -> DataFrame:
    """Returns the new state of each key that has records in this micro-batch."""
    target = _state_schema(rows, node)
    fresh = rows.where("not _tombstone and _key is not null")
    states = step.rows("states", target)
    names = own_columns(rows)
    inputs = fresh.select(
        sf.lit(1).alias("_side"),
        *META,
        sf.struct(*(sf.col(f"`{name}`") for name in names)).alias("_record"),
        sf.lit(None).cast(struct_of(node.into)).alias("_state"),
    )
    known = states.join(fresh.select("_key").distinct(), "_key", "left_semi").select(
        sf.lit(0).alias("_side"),
        *META,
        sf.lit(None).cast(inputs.schema["_record"].dataType).alias("_record"),
        sf.struct(*(sf.col(f"`{name}`") for name in node.into.names)).alias("_state"),
    )
    ordered = (
        known.union(inputs)
        .repartition("_key")
        .sortWithinPartitions("_key", "_side", "_offset", "_partition")
    )
    work = _folder(node, record, names, target, errors)
    changes = step.hold(ordered.mapInArrow(work, target))
    step.update("states", changes)
    return changes


def _state_schema(rows: DataFrame, node: Fold) -> StructType:
    meta = [rows.schema[name] for name in META]
    return StructType([*meta, *struct_of(node.into).fields])


def _folder(
    node: Fold, record: type | None, names: list[str], target: StructType, errors: RowErrors
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    schema = to_arrow_schema(target, timezone="UTC")
    folds = _KeyFolds(node, record_maker(record, names))

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        failures = errors.begin()
        rows = []
        for key, time, state in folds.results(batches, failures):
            values = {} if state is None else as_values(state, node.into.names)
            meta = {"_key": key, "_timestamp": time, "_tombstone": state is None}
            rows.append({**dict.fromkeys(schema.names), **values, **meta})
        yield pa.RecordBatch.from_pylist(rows, schema=schema)
        failures.finish()

    return work


class _KeyFolds:
    """Applies a fold to rows that are sorted by key: for each key its state, then its records."""

    def __init__(self, node: Fold, make_record: Callable[[dict[str, Any]], Any]) -> None:
        self._node = node
        self._make_record = make_record
        self._make_state = record_maker(node.into.record, node.into.names)

    def results(
        self, batches: Iterable[pa.RecordBatch], failures: TaskErrors
    ) -> Iterator[tuple[Any, Any, Any]]:
        """Yields key, time and state of each key, except for keys whose records have all failed."""
        rows = ((batch, at, row) for batch in batches for at, row in enumerate(batch.to_pylist()))
        for key, group in itertools.groupby(rows, key=lambda item: item[2]["_key"]):
            time, state = None, _NO_STATE
            for batch, index, row in group:
                time = time or row["_timestamp"]
                if row["_side"] == 0:
                    state = self._make_state(row["_state"])
                    continue
                try:
                    state = self._next(state, row)
                except Exception as error:  # noqa: BLE001 - a user's function may raise anything
                    failures.failed(_source_row(batch, index), 0, error)
                    continue
                time = max(time, row["_timestamp"])
            if state is not _NO_STATE:
                yield key, time, state

    def _next(self, state: object, row: dict[str, Any]) -> object:
        began = self._node.initial() if state is _NO_STATE or state is None else state
        return self._node.function(began, self._make_record(row["_record"]))


def _source_row(batch: pa.RecordBatch, index: int) -> pa.RecordBatch:
    """Returns one row of a fold's input with the columns of the record."""
    row = batch.slice(index, 1)
    own = pa.RecordBatch.from_struct_array(row.column("_record"))
    arrays = [row.column(name) for name in META] + own.columns
    return pa.RecordBatch.from_arrays(arrays, names=[*META, *own.schema.names])
