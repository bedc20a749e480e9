"""Spark registers the `DefaultSource` of every package named `pyspark_*` by itself."""

from barnabas.spark.data_source import BarnabasDataSource as DefaultSource

__all__ = ["DefaultSource"]
