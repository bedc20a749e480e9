"""Pipelines from files: run to the end, stopped, and continued from their checkpoints."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading

import pytest
from support.soak import SOAK

from barnabas.admin import Admin
from barnabas.model.errors import ConfigError, LocalError
from barnabas.spark.pipeline_files import load
from barnabas.spark.pipeline_registry import FAILED, FINISHED, STOPPED, PipelineRegistry
from barnabas.streams.pipelines import PipelineRunner

pytestmark = [
    pytest.mark.integration,
    pytest.mark.xdist_group("spark"),
]

YAML = """\
name: {name}
bootstrap_servers: {servers}
source:
  topic: {name}-in
  format: json
  schema: user string, amount double
steps:
  - where: amount >= 10
  - sql: SELECT user, sum(amount) AS total FROM input GROUP BY user
sink:
  topic: {name}-out
  key: user
  mode: update
dead_letters:
  topic: {name}-bad
checkpoint: {place}/checkpoint
trigger: {trigger}
spark: {{master: "local[2]"}}
"""

PYTHON = """\
from barnabas.spark.pipeline import Apply, Pipeline, Source, TableSink, Where

def doubled(frame):
    from pyspark.sql.functions import udf

    twice = udf(lambda number: number * 2, "long")
    return frame.withColumn("twice", twice("n"))

pipeline = Pipeline(
    name="{name}",
    bootstrap_servers="{servers}",
    source=Source("{name}-in", format="json", schema="id string, n long"),
    steps=[Where("n > 1"), Apply(doubled)],
    sink=TableSink("sqlite:///{place}/db", "numbers", keys=["id"]),
    checkpoint="{place}/checkpoint",
    trigger="available-now",
)
"""


@pytest.fixture
def make(broker, topic_name, tmp_path):
    """A pipeline file and the topics it names."""

    broker.topic(f"{topic_name}-in", partitions=2)

    def write(text, suffix, **values):
        path = tmp_path / f"pipeline{suffix}"
        given = {"name": topic_name, "servers": broker.bootstrap_servers, "place": tmp_path}
        path.write_text(textwrap.dedent(text).format(**given, **values))
        return path

    return write


@pytest.fixture
def run(spark, tmp_path):
    def start(path, **options):
        runner = PipelineRunner(
            load(path), PipelineRegistry(tmp_path / "state"), lambda _figures: None, **options
        )
        return runner.run(spark)

    return start


def orders(*amounts):
    return [json.dumps({"user": f"u{n % 3}", "amount": amount}) for n, amount in enumerate(amounts)]


def results(broker, topic):
    records = broker.records(topic, read_committed=True)
    return {record.key.decode(): json.loads(record.value) for record in records}


FILES = """\
name: {name}
bootstrap_servers: {servers}
source: {{topic: "{name}-in", format: json, schema: "user string, amount double"}}
sink: {{format: json, options: {{path: "{place}/files"}}}}
checkpoint: {place}/checkpoint
trigger: available-now
"""


def test_files_have_the_values_columns_only(broker, topic_name, tmp_path, make, run):
    """The columns of the source's record (`_key`, `_timestamp`, ...) are not written."""
    broker.produce(f"{topic_name}-in", *orders(10))
    assert run(make(FILES, ".yaml")) == FINISHED
    texts = [path.read_text() for path in (tmp_path / "files").glob("*.json")]
    rows = [json.loads(line) for text in texts for line in text.splitlines()]
    assert rows == [{"user": "u0", "amount": 10.0}]


def test_yaml_runs_to_the_end_and_continues(broker, topic_name, tmp_path, make, run):
    path = make(YAML, ".yaml", trigger="available-now")
    out = broker.topic(f"{topic_name}-out")
    broker.produce(f"{topic_name}-in", *orders(10, 20, 30, 5, 50), "no json")
    assert run(path) == FINISHED
    assert results(broker, out) == {
        "u0": {"user": "u0", "total": 10.0},
        "u1": {"user": "u1", "total": 70.0},
        "u2": {"user": "u2", "total": 30.0},
    }
    assert [r.value for r in broker.records(f"{topic_name}-bad", read_committed=True)] == [
        b"no json"
    ]
    status = PipelineRegistry(tmp_path / "state").read(topic_name)
    assert (status["state"], status["lag"], status["file"]) == (FINISHED, 0, str(path))
    broker.produce(f"{topic_name}-in", *orders(1000))
    assert run(path) == FINISHED
    assert results(broker, out)["u0"]["total"] == 1010.0
    assert len(broker.records(out, read_committed=True)) == 4, "a row for each change"


def test_an_error_that_spark_finds_names_the_line(topic_name, tmp_path, make, run):
    path = make(YAML.replace("amount >= 10", "amuont >= 10"), ".yaml", trigger="available-now")
    with pytest.raises(ConfigError, match=r"pipeline\.yaml:8: steps\[0\]: .*amuont"):
        run(path)
    path = make(YAML, ".yaml", trigger="often")
    with pytest.raises(ConfigError, match=r"pipeline\.yaml:17: trigger: "):
        run(path)
    status = PipelineRegistry(tmp_path / "state").read(topic_name)
    assert status["state"] == FAILED
    assert "trigger" in status["error"]


def test_an_error_at_the_start_of_the_query_names_the_line(tmp_path, make, run):
    """Spark checks the output mode and creates the checkpoint when the query starts."""
    path = make(YAML.replace("mode: update", "mode: append"), ".yaml", trigger="available-now")
    with pytest.raises(ConfigError, match=r"pipeline\.yaml:10: sink: .*output mode"):
        run(path)
    (tmp_path / "file").write_text("not a directory")
    text = YAML.replace("{place}/checkpoint", "{place}/file/checkpoint")
    path = make(text, ".yaml", trigger="available-now")
    with pytest.raises(ConfigError, match=r"pipeline\.yaml:16: checkpoint: \w+Exception: .*"):
        run(path)


def test_a_failed_query_names_the_reason(broker, topic_name, make, run):
    path = make(YAML, ".yaml", trigger="available-now")
    broker.produce(f"{topic_name}-in", *orders(10))
    path.write_text(path.read_text().replace("amount >= 10", "assert_true(amount > 99) IS NULL"))
    with pytest.raises(LocalError, match="query has failed"):
        run(path)


def test_a_stop_loses_no_record(spark, broker, topic_name, tmp_path, make):
    path = make(YAML, ".yaml", trigger="100 milliseconds")
    broker.topic(f"{topic_name}-out")
    broker.produce(f"{topic_name}-in", *orders(10, 20))
    seen, begun = [], threading.Event()

    def on_progress(figures):
        seen.append(figures)
        if figures.rows:
            begun.set()

    runner = PipelineRunner(load(path), PipelineRegistry(tmp_path / "state"), on_progress)
    states, messages = [], []
    runner.on_stop = messages.append
    thread = threading.Thread(target=lambda: states.append(runner.run(spark)))
    thread.start()
    try:
        assert begun.wait(200)
    finally:
        runner.stop.set()
        thread.join(90)
    assert states == [STOPPED]
    assert messages == [f"{topic_name}: stopping after the current micro-batch"]
    assert PipelineRegistry(tmp_path / "state").read(topic_name)["state"] == STOPPED
    assert not [query for query in spark.streams.active if query.name == topic_name]


def test_a_stop_before_the_query_has_started(spark, topic_name, tmp_path, make):
    registry = PipelineRegistry(tmp_path / "state")
    runner = PipelineRunner(load(make(YAML, ".yaml", trigger="1 second")), registry, print)
    runner.stop.set()
    assert runner.run(spark) == STOPPED
    assert registry.read(topic_name)["state"] == STOPPED
    assert not (tmp_path / "checkpoint").exists()


def test_python_into_a_table(broker, topic_name, tmp_path, make, run):
    path = make(PYTHON, ".py")
    with sqlite3.connect(tmp_path / "db") as database:
        database.execute("CREATE TABLE numbers (id TEXT PRIMARY KEY, n INT, twice INT)")
    broker.produce(f"{topic_name}-in", *(json.dumps({"id": f"i{n}", "n": n}) for n in range(4)))
    assert run(path) == FINISHED
    found = sorted(database.execute("SELECT * FROM numbers"))
    database.close()
    assert found == [("i2", 2, 4), ("i3", 3, 6)]


PATTERN = """\
name: {name}
bootstrap_servers: {servers}
source: {{pattern: "{name}-in.*", format: json, schema: "user string"}}
steps:
  - add_columns: {{origin: _topic}}
sink: {{topic: "{name}-out", key: user}}
checkpoint: {place}/checkpoint
trigger: available-now
"""


def test_topics_of_a_pattern_into_a_topic_that_is_created(broker, topic_name, make, run):
    """The output topic gets as many partitions as the largest topic that the pipeline reads."""
    path = make(PATTERN, ".yaml")
    broker.topic(f"{topic_name}-in-2", partitions=3)
    broker.produce(f"{topic_name}-in", json.dumps({"user": "ann"}))
    broker.produce(f"{topic_name}-in-2", json.dumps({"user": "bob"}))
    assert run(path) == FINISHED
    assert results(broker, f"{topic_name}-out") == {
        "ann": {"user": "ann", "origin": f"{topic_name}-in"},
        "bob": {"user": "bob", "origin": f"{topic_name}-in-2"},
    }
    with Admin({"bootstrap.servers": broker.bootstrap_servers}) as admin:
        assert len(admin.describe_topic(f"{topic_name}-out").partitions) == 3


def test_a_checkpoint_of_an_earlier_version_continues(
    spark, broker, topic_name, tmp_path, make, run
):
    """Earlier versions built the query without a topology; its offsets and state are used."""
    path = make(YAML, ".yaml", trigger="available-now")
    out = broker.topic(f"{topic_name}-out")
    broker.produce(f"{topic_name}-in", *orders(10, 20))
    options = {
        "kafka.bootstrap.servers": broker.bootstrap_servers,
        "subscribe": f"{topic_name}-in",
        "startingOffsets": "earliest",
        "value.format": "json",
        "value.schema": "user string, amount double",
    }
    rows = spark.readStream.format("barnabas").options(**options).load()
    meta = ("key", "topic", "partition", "offset", "timestamp")
    flat = rows.select("value.*", *(rows[name].alias(f"_{name}") for name in meta))
    flat.where("amount >= 10").createOrReplaceTempView("input")
    totals = spark.sql("SELECT user, sum(amount) AS total FROM input GROUP BY user")
    query = (
        totals.writeStream.outputMode("update")
        .foreachBatch(lambda frame, _batch_id: frame.collect() and None)
        .queryName(topic_name)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(200)
    broker.produce(f"{topic_name}-in", *orders(1000))
    assert run(path) == FINISHED
    assert results(broker, out) == {"u0": {"user": "u0", "total": 1010.0}}


@pytest.mark.skipif(not SOAK, reason="starts a JVM of its own: make soak runs it")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_the_command_stops_on_signals(broker, topic_name, tmp_path, make, sent, code):
    path = make(YAML, ".yaml", trigger="1 second")
    out = broker.topic(f"{topic_name}-out")
    broker.produce(f"{topic_name}-in", *orders(10, 20))
    command = [sys.executable, "-m", "barnabas.cli.main", "pipeline", "run", str(path)]
    environment = {**os.environ, "BARNABAS_STATE_DIR": str(tmp_path / "state")}
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    pause = threading.Event()
    try:
        while process.poll() is None and len(results(broker, out)) < 2:
            pause.wait(0.3)
        process.send_signal(sent)
        assert process.wait(60) == code, (tmp_path / "log").read_text()
    finally:
        process.kill()
        process.wait()
    told = (tmp_path / "log").read_text()
    assert "rows/s  lag 0" in told
    assert told.endswith("has stopped\n")
    assert PipelineRegistry(tmp_path / "state").read(topic_name)["state"] == STOPPED
