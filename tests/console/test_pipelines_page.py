"""A running pipeline, its group, and SQL on its topics, in a real browser."""

import os
import re
import subprocess
import sys

import pytest

from barnabas import Producer
from barnabas.spark.pipeline_registry import STATE_DIR

pytestmark = pytest.mark.timeout(600)
SPARK_S = 240
NAME = "console-totals"
SELECT = "SELECT user, SUM(amount) AS total FROM payments GROUP BY user ORDER BY user"
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
  topic: {name}-in.dlq
checkpoint: {place}/checkpoint
trigger: 1 second
spark: {{master: "local[1]"}}
"""


def write(broker, count):
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        for number in range(count):
            value = b'{"user": "u%d", "amount": %d}' % (number % 5, number)
            producer.send(f"{NAME}-in", value)
        producer.send(f"{NAME}-in", b"no json")


@pytest.fixture(scope="module")
def pipeline(chromium, broker, state_dir, tmp_path_factory):
    """`barnabas pipeline run` in a process of its own."""
    place = tmp_path_factory.mktemp("totals")
    broker.topic(f"{NAME}-in", partitions=2)
    write(broker, 200)
    file = place / "totals.yaml"
    text = YAML.format(name=NAME, servers=broker.bootstrap_servers, place=place)
    file.write_text(text)
    command = [sys.executable, "-m", "barnabas.cli.main", "pipeline", "run", str(file)]
    with (place / "log").open("wb") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env={**os.environ, STATE_DIR: str(state_dir)}
        )
    yield process
    process.terminate()
    process.wait(60)


def test_a_running_pipeline_shows_its_batches_and_topology(browser, broker, pipeline):
    browser.open("/pipelines")

    def runs():
        assert pipeline.poll() is None
        return NAME in browser.text and "running" in browser.text

    browser.wait(runs, SPARK_S)
    browser.link(NAME)
    browser.ready()
    browser.wait(lambda: browser.find('[data-fact="Micro-batch"]').text.isdigit(), SPARK_S)
    browser.shows("Topology")
    browser.wait(lambda: browser.find('[data-fact="Rows of state"]').text == "5", SPARK_S)
    browser.wait(lambda: "addBatch" in phases(browser))
    browser.picture("pipeline")
    browser.open("/pipelines")
    browser.shows(NAME)
    browser.picture("pipelines")


def phases(browser):
    chart = browser.chart()
    return chart["yAxis"][0].get("data", ()) if chart and chart["yAxis"] else ()


def test_the_query_is_a_group_of_type_spark(browser, pipeline):
    browser.open("/groups")
    browser.fill("Search", NAME)
    browser.shows("Spark", SPARK_S)
    assert f"{NAME}-in-topics" not in browser.text
    browser.picture("groups-spark")


def test_dead_letters_of_the_pipeline_are_shown(browser, admin, broker, pipeline):
    topic = f"{NAME}-in.dlq"

    def written():
        assert pipeline.poll() is None
        names = {listing.name for listing in admin.list_topics()}
        return topic in names and broker.records(topic, read_committed=True)

    # The pipeline creates the topic with its first dead letter.
    browser.wait(written, SPARK_S, every=0.5)
    browser.open(f"/dead-letters?topic={topic}")
    browser.shows("no json")
    browser.picture("dead-letters-pipeline")


def test_a_statement_shows_rows_and_a_plot(browser, console, broker, pipeline):
    browser.open("/sql")
    browser.shows("No queries")
    browser.picture("sql-empty")
    type_statement(browser, "SELECT 1 AS one; SELECT 2")
    browser.click("Run")
    browser.shows("one statement at a time")
    define(console.bootstrap)
    browser.open("/sql")
    browser.shows("payments")
    browser.click("Select")
    browser.wait(lambda: "SELECT * FROM payments" in browser.find(".cm-content").text)
    # SHOW TOPICS needs no Spark; with BARNABAS_SOAK=1 a SELECT runs on it.
    statement = SELECT if os.environ.get("BARNABAS_SOAK") else "SHOW TOPICS"
    type_statement(browser, statement)
    browser.click("Copy as CLI")
    browser.shows("barnabas sql --format json")
    browser.click("Run")
    browser.wait(lambda: re.search(r"\d rows in", browser.text), SPARK_S)
    browser.wait(lambda: browser.driver.find_elements("css selector", "main canvas"))
    browser.picture("sql")


def type_statement(browser, text):
    browser.press(".cm-content")
    browser.find(".cm-content").send_keys("\ue009a\ue000", "\ue003", text)


def define(servers):
    statement = (
        f"CREATE STREAM payments (user STRING, amount DOUBLE) "
        f"WITH (kafka_topic='{NAME}-in', value_format='JSON');"
    )
    command = [sys.executable, "-m", "barnabas.cli.main", "sql", "-b", servers, "-e", statement]
    subprocess.run(command, check=True, capture_output=True, timeout=SPARK_S)
