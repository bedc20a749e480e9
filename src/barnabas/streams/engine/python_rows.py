"""Python functions over rows: records made of Arrow batches, results made batches again.

The functions go to Spark's workers with all they refer to. A tombstone is never shown to them.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from barnabas.model.errors import LocalError
from barnabas.streams.engine.rows import META, own_columns
from barnabas.streams.nodes import Map
from barnabas.streams.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa


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


def mapped(frame: DataFrame, node: Map, record: type | None) -> DataFrame:
    """The rows with a function's results in place of their own columns."""
    kept = frame.select(*META, *(f"`{name}`" for name in own_columns(frame)))
    target = _target(kept, node.into)
    if node.style in ("row", "rows"):
        work = _by_row(node.function, node.into.names, record, target, many=node.style == "rows")
    else:
        work = _by_batch(node.function, target, pandas=node.style == "pandas")
    return kept.mapInArrow(work, target)


def selected(frame: DataFrame, function: Callable[[Any], bool], record: type | None) -> DataFrame:
    """A column `_holds` with what a predicate says of each row."""
    kept = frame.select(*META, *(f"`{name}`" for name in own_columns(frame)))
    target = StructType(list(kept.schema.fields)).add("_holds", "boolean")
    return kept.mapInArrow(_answers(function, record, "_holds", bool, target), target)


def rekeyed(frame: DataFrame, function: Callable[[Any], Any], record: type | None) -> DataFrame:
    """The rows with a function's result, as text, for a key."""
    kept = frame.select(*META, *(f"`{name}`" for name in own_columns(frame)))
    target = StructType(list(kept.schema.fields)).add("_new_key", "string")
    made = kept.mapInArrow(_answers(function, record, "_new_key", _text, target), target)
    return made.drop("_key").withColumnRenamed("_new_key", "_key")


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


def _by_row(
    function: Callable[[Any], Any],
    names: tuple[str, ...],
    record: type | None,
    target: StructType,
    *,
    many: bool,
) -> Callable[[Iterable["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]:
    schema = _arrow(target)

    def work(batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        import pyarrow as pa

        for batch in batches:
            at, results = _results(batch, function, record, many=many)
            rows = [{} if result is None else as_values(result, names) for result in results]
            meta = batch.select(list(META)).take(pa.array(at, pa.int64()))
            gone = pa.array([result is None for result in results], pa.bool_())
            arrays = [
                gone if name == "_tombstone" else meta.column(name).cast(schema.field(name).type)
                for name in META
            ]
            arrays += [pa.array([r.get(n) for r in rows], schema.field(n).type) for n in names]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return work


def _results(
    batch: "pa.RecordBatch", function: Callable[[Any], Any], record: type | None, *, many: bool
) -> tuple[list[int], list[Any]]:
    own = [name for name in batch.schema.names if name not in META]
    make = record_maker(record, own)
    at: list[int] = []
    results: list[Any] = []
    gone = batch.column("_tombstone").to_pylist()
    for place, row in enumerate(batch.select(own).to_pylist()):
        if gone[place]:
            found = [] if many else [None]
        else:
            found = list(function(make(row))) if many else [function(make(row))]
        at.extend([place] * len(found))
        results.extend(found)
    return at, results


def _by_batch(
    function: Callable[[Any], Any], target: StructType, *, pandas: bool
) -> Callable[[Iterable["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]:
    schema = _arrow(target)

    def work(batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        import pyarrow as pa

        for batch in batches:
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
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return work


def _answers(
    function: Callable[[Any], Any],
    record: type | None,
    name: str,
    convert: Callable[[Any], Any],
    target: StructType,
) -> Callable[[Iterable["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]:
    schema = _arrow(target)

    def work(batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        import pyarrow as pa

        for batch in batches:
            _, results = _results(batch, function, record, many=False)
            answer = pa.array([convert(result) for result in results], schema.field(name).type)
            kept = [batch.column(n).cast(schema.field(n).type) for n in schema.names[:-1]]
            yield pa.RecordBatch.from_arrays([*kept, answer], schema=schema)

    return work
