"""The sinks: write rows to topics and to databases, exactly once.

The writers are imported on first use: each of Spark's processes imports only what it needs.
"""

from typing import TYPE_CHECKING

from barnabas.model.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from barnabas.spark.sink.writers import BatchWriter, StreamWriter

_MODULE_OF = {
    "BatchWriter": "barnabas.spark.sink.writers",
    "StreamWriter": "barnabas.spark.sink.writers",
}

__all__ = ["BatchWriter", "StreamWriter"]

__getattr__ = lazy_exports(__name__, _MODULE_OF)
