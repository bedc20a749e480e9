"""Changes of tables: the last per key of a micro-batch, what differs between two states of a
result, and a Python function folded over each key's records."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from barnabas.streams.engine.python_rows import as_values, record_maker, struct_of
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


def fold_step(rows: DataFrame, node: Fold, record: type | None, step: Step) -> DataFrame:
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
    changes = step.hold(ordered.mapInArrow(_folder(node, record, names, target), target))
    step.update("states", changes)
    return changes


def _state_schema(rows: DataFrame, node: Fold) -> StructType:
    meta = [rows.schema[name] for name in META]
    return StructType([*meta, *struct_of(node.into).fields])


def _folder(
    node: Fold, record: type | None, names: list[str], target: StructType
) -> Callable[[Iterable["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]:
    schema = to_arrow_schema(target, timezone="UTC")
    initial, function, into = node.initial, node.function, node.into
    make_record = record_maker(record, names)
    make_state = record_maker(into.record, into.names)
    none = object()

    def results(batches: Iterable["pa.RecordBatch"]) -> Iterator[tuple[Any, Any, Any]]:
        """Key, time and state, when all of a key's rows have been seen: they are neighbours."""
        key: Any = none
        state: Any = None
        time: Any = None
        for batch in batches:
            for row in batch.to_pylist():
                if row["_key"] != key:
                    if key is not none:
                        yield key, time, state
                    key, time, state = row["_key"], row["_timestamp"], none
                if row["_side"] == 0:
                    state = make_state(row["_state"])
                    continue
                began = initial() if state is none or state is None else state
                state = function(began, make_record(row["_record"]))
                time = max(time, row["_timestamp"])
        if key is not none:
            yield key, time, state

    def work(batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        import pyarrow as pa

        rows = []
        for key, time, state in results(batches):
            values = {} if state is None else as_values(state, into.names)
            meta = {"_key": key, "_timestamp": time, "_tombstone": state is None}
            rows.append({**dict.fromkeys(schema.names), **values, **meta})
        yield pa.RecordBatch.from_pylist(rows, schema=schema)

    return work
