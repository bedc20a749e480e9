"""Fixtures on Spark: a session with the source and the sink, and a bench for streams.

A JVM takes seconds to start: there is one per test process. Under xdist mark these tests with
xdist_group, so that they meet in one.
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
    """A local Spark session that knows `format("barnabas")`."""
    from barnabas.spark import session

    place = tmp_path_factory.mktemp("spark")
    settings = {
        # A JVM that lives for a test run has no use for the costly compiler. Without it Java has
        # 48 MiB for compiled code, full after a minute of queries; then it compiles nothing more.
        "spark.driver.extraJavaOptions": (
            "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
        ),
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.sql.warehouse.dir": str(place / "warehouse"),
        "spark.local.dir": str(place / "local"),
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
    """Feed topics, run a topology to the end, look at the rows: `barnabas.streams.testing`."""
    from barnabas.streams.testing import Bench

    return Bench(kafka_broker.bootstrap_servers, kafka_spark, tmp_path)
