"""Nodes without state to frames: the same for streaming frames, micro-batches and bounded reads."""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from barnabas.model.errors import ConfigError
from barnabas.streams.engine.python_rows import mapped, rekeyed, selected
from barnabas.streams.engine.row_errors import ErrorHandling, RowErrors, without_topology
from barnabas.streams.engine.rows import META, own_columns
from barnabas.streams.nodes import (
    Apply,
    Changes,
    Fold,
    Map,
    Merge,
    Node,
    Rekey,
    Select,
    Source,
    Through,
    Where,
)


def lower(node: Node, known: Mapping[Node, DataFrame], handling: ErrorHandling | None) -> DataFrame:
    """The rows of a node, from the frames of those above it that are known.

    `handling` has the error policies of Python functions; None for bounded reads.
    """
    if node in known:
        return known[node]
    if isinstance(node, Merge):
        return _merged([lower(parent, known, handling) for parent in node.streams])
    if isinstance(node, Changes):
        return lower(node.parent, known, handling)
    if isinstance(node, Select):
        return _select(lower(node.parent, known, handling), node)
    if isinstance(node, Apply):
        return _applied(lower(node.parent, known, handling), node)
    if isinstance(node, Where | Map | Rekey):
        rows = lower(node.parent, known, handling)
        return _with_function(rows, node, handling)
    raise ConfigError(f"{node.label!r} has no rows here: its query comes before this one")


def _with_function(
    rows: DataFrame, node: Where | Map | Rekey, handling: ErrorHandling | None
) -> DataFrame:
    errors = errors_of(node, handling)
    if isinstance(node, Where):
        return _where(rows, node, errors)
    if isinstance(node, Rekey):
        return _rekey(rows, node, errors)
    return mapped(rows, node, record_of(node.parent), errors)


def errors_of(node: Where | Map | Rekey | Fold, handling: ErrorHandling | None) -> RowErrors:
    """Returns the error handling of rows for which a node's function raises an exception."""
    if handling is None:
        return without_topology(node, node.on_error)
    return handling.of(node, node.on_error)


def record_of(node: Node) -> type | None:
    """The dataclass a node's rows are records of, if there is one."""
    if isinstance(node, Source):
        return node.topic.schema.record if node.topic.schema else None
    if isinstance(node, Map | Fold):
        return node.into.record
    if isinstance(node, Through) and node.topic and node.topic.schema:
        return node.topic.schema.record
    if isinstance(node, Where | Rekey | Changes | Through | Merge):
        return record_of(node.parents[0])
    return None


def meta() -> list[Any]:
    return [sf.col(name) for name in META]


def _applied(frame: DataFrame, node: Apply) -> DataFrame:
    made: DataFrame = node.function(frame)
    if not isinstance(made, DataFrame):
        raise ConfigError(f"{node.label!r} returned {type(made).__name__}, not a DataFrame")
    if not node.reserved:
        return made
    kinds = {name: frame.schema[name].dataType for name in META}
    empty = {name: sf.lit(None).cast(kind) for name, kind in kinds.items()}
    empty["_tombstone"] = sf.lit(False)
    missing = {name: value for name, value in empty.items() if name not in made.columns}
    whole = made.withColumns(missing) if missing else made
    return whole.select(*META, *(f"`{name}`" for name in own_columns(whole)))


def _select(frame: DataFrame, node: Select) -> DataFrame:
    return frame.select(*meta(), *(sf.expr(text).alias(name) for name, text in node.columns))


def _where(frame: DataFrame, node: Where, errors: RowErrors) -> DataFrame:
    if isinstance(node.predicate, str):
        holds: Any = sf.expr(node.predicate)
        asked = frame
    else:
        asked = selected(frame, node.predicate, record_of(node.parent), errors)
        holds = sf.col("_holds")
    if not node.is_table:
        return asked.where(holds).drop("_holds")
    gone = sf.col("_tombstone") | ~sf.coalesce(holds, sf.lit(False))
    return asked.withColumn("_tombstone", gone).drop("_holds")


def _rekey(frame: DataFrame, node: Rekey, errors: RowErrors) -> DataFrame:
    if not isinstance(node.key, str):
        return rekeyed(frame, node.key, record_of(node.parent), errors)
    return frame.withColumn("_key", sf.expr(node.key))


def _merged(frames: list[DataFrame]) -> DataFrame:
    first = frames[0]
    for other in frames[1:]:
        if set(own_columns(other)) != set(own_columns(first)):
            raise ConfigError(
                f"merged streams have different columns: {', '.join(own_columns(first))} and "
                f"{', '.join(own_columns(other))}"
            )
        first = first.unionByName(other)
    return first
