"""Changes of tables: the last per key of a micro-batch, what differs between two states of a
result, and a Python function folded over each key's records."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from barnabas.streams.engine.python_rows import as_values, record_maker, struct_of
from barnabas.streams.engine.row_errors import RowErrors, TaskErrors
from barnabas.streams.engine.rows import META, own_columns
from barnabas.streams.engine.state import Step
from barnabas.streams.nodes import Fold

if TYPE_CHECKING:
    import pyarrow as pa


def columns_of(frame: DataFrame) -> list[Any]:
    return [sf.col(f"`{name}`") for name in frame.columns]


def last_changes(rows: DataFrame) -> DataFrame:
    """The last row of each key, by offset; rows without a key belong to no table."""
    whole = rows.where(sf.col("_key").isNotNull()).select(
        "_key",
        sf.struct("_offset", "_partition").alias("_at"),
        sf.struct(*columns_of(rows)).alias("_row"),
    )
    return whole.groupBy("_key").agg(sf.max_by("_row", "_at").alias("_row")).select("_row.*")


def difference(before: DataFrame, after: DataFrame) -> DataFrame:
    """What has to be told to bring who knows `before` to `after`: rows by `_key`."""
    old = before.select(sf.col("_key").alias("_old_key"), _row(before).alias("_old"))
    new = after.select(sf.col("_key").alias("_new_key"), _row(after).alias("_new"))
    both = new.join(old, sf.col("_new_key") == sf.col("_old_key"), "full")
    changed = sf.col("_new").isNull() | ~_same(after)
    told = both.where(changed).select(
        sf.coalesce("_new", "_old").alias("_row"), sf.col("_new").isNull().alias("_gone")
    )
    return told.select(
        "_row._key",
        "_row._timestamp",
        sf.col("_gone").alias("_tombstone"),
        "_row._partition",
        "_row._offset",
        *(sf.col(f"_row.`{name}`").alias(name) for name in own_columns(after)),
    )


def _row(frame: DataFrame) -> Any:
    return sf.struct(*columns_of(frame))


def _same(frame: DataFrame) -> Any:
    sides = [
        sf.struct(*(sf.col(f"{side}.`{name}`").alias(name) for name in own_columns(frame)))
        for side in ("_new", "_old")
    ]
    if "map<" in frame.schema.simpleString():  # maps cannot be compared
        sides = [sf.to_json(side) for side in sides]
    return sf.col("_old").isNotNull() & sides[0].eqNullSafe(sides[1])


# --- a Python function over each key's records ---

_NO_STATE: Any = object()
"""A key without a state; None is the state of a deleted one."""


def fold_step(
    rows: DataFrame, node: Fold, record: type | None, step: Step, errors: RowErrors
) -> DataFrame:
    """The new state of each key that has records in this micro-batch."""
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
) -> Callable[[Iterable["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]:
    schema = to_arrow_schema(target, timezone="UTC")
    folds = _KeyFolds(node, record_maker(record, names))

    def work(batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        import pyarrow as pa

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
        self, batches: Iterable["pa.RecordBatch"], failures: TaskErrors
    ) -> Iterator[tuple[Any, Any, Any]]:
        """Key, time and state of each key; no key whose records have all failed."""
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

    def _next(self, state: Any, row: dict[str, Any]) -> Any:
        began = self._node.initial() if state is _NO_STATE or state is None else state
        return self._node.function(began, self._make_record(row["_record"]))


def _source_row(batch: "pa.RecordBatch", index: int) -> "pa.RecordBatch":
    """One row of a fold's input with the columns that the record had before."""
    import pyarrow as pa

    row = batch.slice(index, 1)
    own = pa.RecordBatch.from_struct_array(row.column("_record"))
    arrays = [row.column(name) for name in META] + own.columns
    return pa.RecordBatch.from_arrays(arrays, names=[*META, *own.schema.names])
