"""Registration of the source with a session."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.soak import SOAK

from barnabas.spark import FORMAT, register

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("spark")]


def test_a_registered_source_has_no_accumulator(spark):
    """With one, each step of a micro-batch waits for the driver's Python."""
    register(spark)
    sources = spark._jsparkSession.sessionState().dataSourceManager()
    function = sources.lookupDataSource(FORMAT).dataSourceCls()
    assert function.accumulator() is None
    assert spark.sparkContext._javaAccumulator is not None, "other functions have theirs"


def test_a_stream_that_starts_adds_no_variable(spark, broker, source, topic_name, tmp_path):
    """Spark copies the map of variables for each plan, while streams that start write to it.

    A write that adds a key makes the copy of another thread fail with
    ConcurrentModificationException.
    """
    broker.topic(topic_name)
    broker.produce(topic_name, "hello")
    session = spark.newSession()
    register(session)
    sources = session._jsparkSession.sessionState().dataSourceManager()
    variables = sources.lookupDataSource(FORMAT).dataSourceCls().envVars()
    before = set(variables)
    rows = session.readStream.format(FORMAT).options(**source, subscribe=topic_name).load()
    query = rows.writeStream.format("noop").option("checkpointLocation", str(tmp_path)).start()
    try:
        query.processAllAvailable()
        assert set(variables) == before
        assert variables["SPARK_LOCAL_DIRS"] != "", "a stream has written to the map"
    finally:
        query.stop()


def test_workers_run_the_drivers_python(spark, broker, source, topic_name, monkeypatch):
    """As in a virtual environment that is not activated: the workers' Python has no barnabas."""
    broker.topic(topic_name)
    broker.produce(topic_name, "hello")
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    foreign = Path(sys.base_prefix) / "bin" / "python3"
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(foreign))
    other = spark.newSession()
    register(other)
    assert spark.sparkContext.pythonExec == sys.executable
    rows = other.read.format(FORMAT).options(**source, subscribe=topic_name).load().collect()
    assert [bytes(row.value) for row in rows] == [b"hello"]


def test_a_registration_logs_no_warning(spark):
    """Spark would warn at the registration and at the start of each streaming query."""
    session = spark.newSession()
    level = spark._jvm.org.apache.logging.log4j.LogManager.getRootLogger().getLevel().toString()
    spark.sparkContext.setLogLevel("WARN")
    try:
        register(session)
        sources = session._jsparkSession.cloneSession().sessionState().dataSourceManager()
        assert not sources.log().isWarnEnabled()
    finally:
        spark.sparkContext.setLogLevel(level)


PLAIN_SESSION = """
from pyspark.sql import SparkSession
from barnabas.spark import register

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
register(spark)
rows = spark.read.format("barnabas").option("kafka.bootstrap.servers", "{servers}")
print("read", [bytes(row.value) for row in rows.option("subscribe", "{topic}").load().collect()])
spark.stop()
"""


@pytest.mark.skipif(not SOAK, reason="starts a JVM of its own: make soak runs it")
def test_a_virtual_environment_that_is_not_activated(broker, topic_name, tmp_path):
    """Spark would start the search path's python3, which has neither barnabas nor pyarrow."""
    broker.topic(topic_name)
    broker.produce(topic_name, "hello")
    foreign = Path(sys.base_prefix) / "bin" / "python3"
    (tmp_path / "python3").symlink_to(foreign)
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PYSPARK")}
    for name in ("VIRTUAL_ENV", "PYTHONPATH"):
        kept.pop(name, None)
    environment = {**kept, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    program = PLAIN_SESSION.format(servers=broker.bootstrap_servers, topic=topic_name)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert "read [b'hello']" in done.stdout, done.stderr[-2000:]
