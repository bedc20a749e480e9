"""Spark's source and sink of topics, without a jar: `format("barnabas")`.

The pure parts (options, offsets, ranges, admission, planner) know nothing of Spark; the rest of
this package is the only importer of pyspark. Nothing of it is imported until it is asked for.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from barnabas.spark.sink.database import DatabaseSink

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


__all__ = ["FORMAT", "DatabaseSink", "register", "session"]

FORMAT = "barnabas"


def register(spark: "SparkSession") -> None:
    """Make `format("barnabas")` known to a session; sessions made later know it by themselves."""
    from barnabas.spark.data_source import BarnabasDataSource

    spark.dataSource.register(BarnabasDataSource)


def session(
    master: str | None = None,
    *,
    app_name: str = "barnabas",
    config: Mapping[str, object] | None = None,
    shared_checkpoints: bool = False,
) -> "SparkSession":
    """A session with the source, the sink and tuned settings; see `barnabas.spark.tuning`."""
    from barnabas.spark.tuning import make_session

    return make_session(
        master, app_name=app_name, config=config, shared_checkpoints=shared_checkpoints
    )
