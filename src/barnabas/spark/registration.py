"""Registers the data source with a session.

Spark's own registration is used, with two differences:

- No accumulator. A session gives every Python function it wraps an accumulator, and after each call
  the JVM asks the driver's Python process, over a socket, to add what the function has added to it.
  A micro-batch from topic to topic waits for that at each of its steps, 2 to 3 ms of 40, although
  nothing here uses accumulators. The sources that Spark finds by itself (`pyspark_*` packages) have
  none either.
- The driver's own Python. Without PYSPARK_PYTHON Spark starts the first `python3` of the search
  path. In a virtual environment that is not activated that Python has no barnabas.
"""

import os
import sys
from typing import TYPE_CHECKING, Any

from barnabas.spark.data_source import BarnabasDataSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


PYTHON_VARIABLE = "PYSPARK_PYTHON"
PYTHON_SETTING = "spark.pyspark.python"


def register_source(spark: "SparkSession") -> None:
    """Make `format("barnabas")` known to a session."""
    registration: Any = spark.dataSource
    if getattr(spark, "_jvm", None) is not None:  # Spark Connect has neither
        use_drivers_python(spark)
        context = _Except(spark.sparkContext, _javaAccumulator=None)
        registration = type(registration)(_Except(spark, sparkContext=context))
    registration.register(BarnabasDataSource)


def use_drivers_python(spark: "SparkSession") -> None:
    """Let the workers of a local session run the Python that runs the driver, unless another one
    was chosen. The workers of a cluster run on other machines, where the path may not exist."""
    context: Any = spark.sparkContext
    chosen = PYTHON_VARIABLE in os.environ or context.getConf().contains(PYTHON_SETTING)
    if not chosen and context.master.startswith("local"):
        context.pythonExec = sys.executable


class _Except:
    """A proxy of an object that replaces some of its attributes."""

    def __init__(self, whole: object, **instead: object) -> None:
        self.__dict__.update(instead)
        self._whole = whole

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole, name)
