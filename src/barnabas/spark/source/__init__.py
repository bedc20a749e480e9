"""The source: topics as rows, for batch reads and streaming queries.

`options`, `offsets` and `planner` are pure; the readers use `SimpleConsumer`.
They are imported on first use: each of Spark's processes imports only what it needs.
"""

from typing import TYPE_CHECKING

from barnabas.model.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from barnabas.spark.source.batch_reader import BatchReader, FilteringBatchReader

_MODULE_OF = {
    "BatchReader": "barnabas.spark.source.batch_reader",
    "FilteringBatchReader": "barnabas.spark.source.batch_reader",
}

__all__ = ["BatchReader", "FilteringBatchReader"]

__getattr__ = lazy_exports(__name__, _MODULE_OF)
