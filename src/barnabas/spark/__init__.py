"""Spark's source and sink of topics, without a jar: `format("barnabas")`.

The functions are imported on first use, because pyspark takes a second to import.
"""

from typing import TYPE_CHECKING

from barnabas.model.lazy_exports import lazy_exports
from barnabas.spark.options import FORMAT, ClusterSettings
from barnabas.spark.sink.database import DatabaseSink

if TYPE_CHECKING:
    from barnabas.spark.formats.frames import decode, encode
    from barnabas.spark.query_listeners import serve_metrics, watch_lag
    from barnabas.spark.query_metrics import lag
    from barnabas.spark.tuning import register, session

_MODULE_OF = {
    "decode": "barnabas.spark.formats.frames",
    "encode": "barnabas.spark.formats.frames",
    "lag": "barnabas.spark.query_metrics",
    "register": "barnabas.spark.tuning",
    "serve_metrics": "barnabas.spark.query_listeners",
    "session": "barnabas.spark.tuning",
    "watch_lag": "barnabas.spark.query_listeners",
}

__all__ = [
    "FORMAT",
    "ClusterSettings",
    "DatabaseSink",
    "decode",
    "encode",
    "lag",
    "register",
    "serve_metrics",
    "session",
    "watch_lag",
]

__getattr__ = lazy_exports(__name__, _MODULE_OF)
