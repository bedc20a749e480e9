"""Registering the data source with a session: Spark's own way, but without its accumulator.

A session gives every Python function it wraps an accumulator, and after each call the JVM asks the
driver's Python process, over a socket, to add what the function has added to it. A micro-batch
from topic to topic waits for that at each of its steps: 2 to 3 ms of 40, for nothing, since nothing
here has accumulators. The sources Spark finds by itself (`pyspark_*` packages) have none either.
"""

from typing import TYPE_CHECKING, Any

from barnabas.spark.data_source import BarnabasDataSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register_source(spark: "SparkSession") -> None:
    registration: Any = spark.dataSource
    if getattr(spark, "_jvm", None) is not None:  # Spark Connect has no accumulators
        context = _Except(spark.sparkContext, _javaAccumulator=None)
        registration = type(registration)(_Except(spark, sparkContext=context))
    registration.register(BarnabasDataSource)


class _Except:
    """An object as it is, except for some attributes."""

    def __init__(self, whole: object, **instead: object) -> None:
        self.__dict__.update(instead)
        self._whole = whole

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole, name)
