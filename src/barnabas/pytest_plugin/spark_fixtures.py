"""Spark fixtures: a session with our source and sink, and a test bench for streams.

Starting a JVM takes seconds, so each test process has one. With xdist, mark these tests with the
same xdist_group so that they run in one process.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from barnabas.streams.testing import Bench
    from barnabas.testing import KafkaServer


@pytest.fixture(scope="session")
def kafka_spark(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[SparkSession]":
    """A local Spark session with `format("barnabas")` registered."""
    from barnabas.spark import session  # PySpark is an optional extra

    directory = tmp_path_factory.mktemp("spark")
    settings = {
        # The optimizing compiler does not pay off in a test run. Without it Java reserves only
        # 48 MiB for compiled code, which is full after a minute of queries, so more is reserved.
        "spark.driver.extraJavaOptions": (
            "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
        ),
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
        "spark.local.dir": str(directory / "local"),
        "spark.sql.session.timeZone": "UTC",
    }
    made = session("local[2]", config=settings)
    made.sparkContext.setLogLevel("ERROR")
    yield made
    made.stop()


@pytest.fixture
def kafka_streams(
    kafka_broker: "KafkaServer", kafka_spark: "SparkSession", tmp_path: Path
) -> "Bench":
    """A test bench: write to topics, run a topology to its end, read rows."""
    from barnabas.streams.testing import Bench  # PySpark is an optional extra

    return Bench(kafka_broker.bootstrap_servers, kafka_spark, tmp_path)
