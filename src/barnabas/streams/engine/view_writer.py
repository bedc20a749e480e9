"""A table's changes into SQLite: the rows and the number of the micro-batch in one transaction."""

from collections.abc import Iterator

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from barnabas.streams.engine.folding import last_changes
from barnabas.streams.engine.rows import key_text, own_columns
from barnabas.streams.nodes import ViewSink
from barnabas.streams.views import Change, ViewFile


def write_view(rows: DataFrame, sink: ViewSink, query: str, batch_id: int) -> None:
    """Write one micro-batch, unless it is there."""
    last = last_changes(rows).select(
        key_text(sf.col("_key"), rows.schema["_key"].dataType).cast("string").alias("key"),
        sf.unix_millis("_timestamp").alias("time"),
        sf.when(
            ~sf.col("_tombstone"),
            sf.to_json(sf.struct(*(sf.col(f"`{name}`") for name in own_columns(rows)))),
        ).alias("value"),
    )
    with ViewFile(sink.path, sink.name) as view:
        view.apply(query, batch_id, _changes(last))


def _changes(frame: DataFrame) -> Iterator[Change]:
    for row in frame.toLocalIterator(prefetchPartitions=True):
        yield Change(row["key"], row["value"], row["time"])
