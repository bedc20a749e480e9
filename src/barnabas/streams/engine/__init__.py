"""Runs definitions on Structured Streaming; besides `barnabas.spark` the only package with PySpark.

`rows` reads and writes topics. `lowering` turns nodes into frames. `aggregates` and `joins` use
Spark's own streaming operators, whose state is in RocksDB, or tables in `state`, a micro-batch at a
time. `python_rows` calls users' functions. `stage_query` creates one streaming query of a stage,
`assembly` all queries of a topology.

The functions that `streams.run` calls are imported on first use, because PySpark takes a second to
import.
"""

from typing import TYPE_CHECKING

from barnabas.model.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from barnabas.streams.engine.assembly import assemble
    from barnabas.streams.engine.lowering import bounded_frame, empty_frame
    from barnabas.streams.engine.rows import schema_of_frame

_MODULE_OF = {
    "assemble": "barnabas.streams.engine.assembly",
    "bounded_frame": "barnabas.streams.engine.lowering",
    "empty_frame": "barnabas.streams.engine.lowering",
    "schema_of_frame": "barnabas.streams.engine.rows",
}

__all__ = ["assemble", "bounded_frame", "empty_frame", "schema_of_frame"]

__getattr__ = lazy_exports(__name__, _MODULE_OF)
