"""`barnabas top` and `barnabas metrics` on a running broker."""

import json

import pytest

from barnabas import Consumer
from barnabas.cli.nouns import top
from barnabas.spark.pipeline_registry import PipelineRegistry
from barnabas.testing import Broker

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def measured():
    with Broker(in_memory=True, config={"http.listener": "0"}) as running:
        yield running


@pytest.fixture
def lagging(measured):
    """A topic with ten records, of which a group has committed four."""
    topic = measured.topic(partitions=2)
    measured.produce(topic, *[str(n) for n in range(10)], partition=0)
    group = f"group-of-{topic}"
    with Consumer(bootstrap_servers=measured.bootstrap_servers, group_id=group) as consumer:
        consumer.commit({(topic, 0): 4})
    return topic, group


def test_top_shows_topics_and_groups(cli, measured, lagging):
    topic, group = lagging
    ran = cli("top", "--count", 1, "--interval", 0.1, servers=measured.bootstrap_servers)
    assert ran.code == 0
    assert any(line.split()[:2] == [topic, "2"] for line in ran.lines)
    (row,) = (line.split() for line in ran.lines if line.startswith(group))
    assert row[3] == "6"


def test_top_as_json_is_one_document_per_screen(cli, measured, lagging):
    topic, group = lagging
    ran = cli(
        "top", "--count", 2, "--interval", 0.1, "--format", "json",
        servers=measured.bootstrap_servers,
    )  # fmt: skip
    first, _second = map(json.loads, ran.lines)
    found = {row["topic"]: row for row in first["topics"]}
    assert (found[topic]["end_offset"], found[topic]["problems"]) == (10, "")
    assert found[topic]["bytes"] > 0
    assert {row["group"]: row["lag"] for row in first["groups"]}[group] == 6
    assert first["brokers"][0]["controller"] is True


def test_a_group_that_never_committed_has_no_known_lag(cli, measured, lagging):
    """It was shown with the lag 0, as if it had read all records."""
    topic, _ = lagging
    group = f"silent-{topic}"
    settings = {"group.id": group, "enable.auto.commit": False}
    with Consumer({"bootstrap.servers": measured.bootstrap_servers, **settings}) as consumer:
        consumer.subscribe([topic])
        consumer.wait_for_assignment(60)
        arguments = ("top", "--count", 1, "--interval", 0.1)
        ran = cli(*arguments, "--format", "json", servers=measured.bootstrap_servers)
        text = cli(*arguments, servers=measured.bootstrap_servers)
    (row,) = (row for row in json.loads(ran.out)["groups"] if row["group"] == group)
    assert (row["members"], row["lag"], row["eta_seconds"]) == (1, None, None)
    (line,) = (line.split() for line in text.lines if line.startswith(group))
    assert (line[3], line[5]) == ("-", "-")


def test_top_shows_the_pipelines_of_this_machine(cli, measured, tmp_path, monkeypatch):
    monkeypatch.setenv("BARNABAS_STATE_DIR", str(tmp_path))
    arguments = ("top", "--count", 1, "--interval", 0.1)
    assert "PIPELINE" not in cli(*arguments, servers=measured.bootstrap_servers).out
    figures = {"batch": 3, "rows_per_second": 120.5, "lag": 7, "batch_ms": 40}
    PipelineRegistry().write("spending", {"name": "spending", "state": "stopped", **figures})
    PipelineRegistry().write("new", {"name": "new", "state": "stopped"})
    ran = cli(*arguments, "--sort", "lag", servers=measured.bootstrap_servers)
    rows = [line.split() for line in ran.lines if line.startswith(("spending", "new"))]
    assert rows == [
        ["spending", "stopped", "3", "120.5", "7", "40"],
        ["new", "stopped", "-", "-", "-", "-"],
    ]


@pytest.mark.parametrize(("width", "height"), [(60, 12), (20, 5), (200, 60), (80, 2)])
def test_a_screen_fits_into_the_terminal(width, height):
    broker = dict.fromkeys(top.BROKER_COLUMNS, 1)
    topics = [{**dict.fromkeys(top.TOPIC_COLUMNS, 1), "topic": f"t{n}"} for n in range(30)]
    group = {**dict.fromkeys(top.GROUP_COLUMNS, 1), "eta_seconds": None}
    rows = {"brokers": [broker], "topics": topics, "groups": [group], "pipelines": []}
    lines = top.fitted(rows, 15, width, height).splitlines()
    assert len(lines) < height
    assert max(map(len, lines)) <= width
    assert lines[0].startswith("BROKER")
    if height == 12:
        assert any(line.startswith("GROUP") for line in lines)
    if height == 60:
        assert sum(line.startswith("t") for line in lines) == 15


def test_top_rejects_an_interval_of_zero(cli, measured):
    ran = cli("top", "--interval", 0, servers=measured.bootstrap_servers)
    assert (ran.code, ran.out) == (2, "")
    assert "--interval 0" in ran.err


def test_metrics_show_prints_matching_samples(cli, measured, lagging):
    topic, _ = lagging
    url = measured.http_url
    ran = cli("metrics", "show", "messagesin", "--url", url, "--format", "json")
    rows = json.loads(ran.out)
    assert {"topic=" + topic: 10}.items() <= {r["labels"]: r["value"] for r in rows}.items()


def test_metrics_show_says_that_nothing_matches(cli, measured):
    ran = cli("metrics", "show", "lagg", "--url", measured.http_url, "--format", "json")
    assert (ran.code, json.loads(ran.out), ran.err) == (0, [], "no metric matches 'lagg'\n")


def test_metrics_show_finds_labels_and_any_case_and_keeps_small_numbers(cli, measured, lagging):
    topic, _ = lagging
    url = measured.http_url
    ran = cli("metrics", "show", f"topic={topic}", "--url", url, "--format", "json")
    names = {row["metric"] for row in json.loads(ran.out)}
    assert "kafka_log_log_size" in names
    ran = cli("metrics", "show", "BytesIn_total", "--url", url, "--format", "json")
    assert f"topic={topic}" in {row["labels"] for row in json.loads(ran.out)}
    ran = cli("metrics", "show", "process_cpu_seconds", "--url", url, "--format", "table")
    value = ran.lines[-1].split()[-1]
    assert len(value.replace(".", "").lstrip("0")) > 2  # one decimal would hide small values


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("show", "--url", "http://127.0.0.1:1"), 1, "start the broker with --http-port"),
        (("show", "("), 2, "not a regular expression"),
        (("show", "--url", "nonsense://x"), 1, "cannot read"),
    ],
)
def test_mistakes_are_one_line(cli, arguments, code, text):
    ran = cli("metrics", *arguments)
    assert ran.code == code
    assert text in ran.err
    assert ran.err.count("\n") == 1


def test_metrics_files_are_written(cli, tmp_path):
    ran = cli("metrics", "files", tmp_path / "monitoring")
    names = {path.name for path in (tmp_path / "monitoring").iterdir()}
    assert {"alerts.yml", "dashboard-cluster.json", "dashboard-groups.json"} <= names
    assert len(ran.lines) == len(names)
