"""Reads orders from a topic into a table and writes the large ones to another topic.

Spark Declarative Pipelines find the source and the sink by the name of their format, without a
registration. BOOTSTRAP_SERVERS has the addresses of the brokers.
"""

import os

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

KAFKA = {"kafka.bootstrap.servers": os.environ.get("BOOTSTRAP_SERVERS", "localhost:9092")}

dp.create_sink("large_orders", "barnabas", {**KAFKA, "topic": "large-orders"})


@dp.table
def orders() -> DataFrame:
    """All orders, decoded."""
    source = SparkSession.active().readStream.format("barnabas").options(**KAFKA)
    source = source.options(subscribe="orders", startingOffsets="earliest")
    fields = source.option("value.format", "json").option(
        "value.schema", "id string, amount double"
    )
    return fields.load().select("value.*")


@dp.append_flow(target="large_orders")
def large_orders_flow() -> DataFrame:
    """Orders of 100 and more, as records."""
    large = SparkSession.active().readStream.table("orders").where("amount >= 100")
    return large.selectExpr("id AS key", "to_json(struct(*)) AS value")
