"""Reporters: loading, the thread that calls them, and JSON lines."""

import asyncio
import json
import math
import threading

import pytest

from barnabas.model.errors import ConfigError
from barnabas.runtime.metric_types import Metric, MetricName
from barnabas.runtime.metrics import MetricKind
from barnabas.runtime.reporters import JsonReporter, ReporterThread, load_reporters

METRIC = Metric(MetricName("a", "g", (("client-id", "c"),)), 1.5, "s", MetricKind.GAUGE)


class Kept:
    def __init__(self):
        self.reports = []
        self.config = None
        self.closed = False
        self.reported = threading.Event()

    def configure(self, config):
        self.config = config

    def report(self, metrics, now_ms):
        self.reports.append(metrics)
        self.reported.set()

    def close(self):
        self.closed = True


def load(*reporters):
    return load_reporters({"metric.reporters": list(reporters), "client.id": "c"})


def test_objects_classes_and_paths():
    given = Kept()
    assert load(given)[0] is given
    assert given.config["client.id"] == "c"
    assert isinstance(load(Kept)[0], Kept)
    path = "barnabas.runtime.reporters.JsonReporter"
    assert isinstance(load(path)[0], JsonReporter)
    assert isinstance(load("json")[0], JsonReporter)
    assert load("org.apache.kafka.common.metrics.JmxReporter") == ()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("jsn", "must be json, otlp, or the import path"),
        ("no.such.Reporter", "ModuleNotFoundError"),
        ("json:NoClass", "has no class"),
        (object(), "no method report"),
        ("io.confluent.metrics.Reporter", "metric.reporters='io.confluent"),
    ],
)
def test_bad_reporters_are_named(given, text):
    with pytest.raises(ConfigError, match=text):
        load(given)


async def test_the_last_report_is_made_by_close():
    kept = Kept()
    thread = ReporterThread([kept], lambda: [METRIC], 1000)
    thread.close()
    await thread.wait()
    assert kept.reports == [[METRIC]]
    assert kept.closed


async def test_a_failing_reporter_is_logged_once_and_does_not_stop_others(caplog):
    class Failing:
        def report(self, metrics, now_ms):
            raise OSError("no space")

    kept = Kept()
    thread = ReporterThread([Failing(), kept], lambda: [METRIC], 0.001)
    while len(kept.reports) < 3:
        await asyncio.sleep(0)
    thread.close()
    await thread.wait()
    assert [r.message for r in caplog.records if "no space" in r.message] == [
        record.message for record in caplog.records
    ]
    assert len(caplog.records) == 1


def test_each_report_is_one_line_without_empty_metrics(tmp_path):
    file = tmp_path / "metrics.json"
    reporter = JsonReporter()
    reporter.configure({"metrics.json.file": str(file)})
    empty = Metric(MetricName("b", "g"), math.nan, "s", MetricKind.GAUGE)
    reporter.report([METRIC, empty], 7)
    reporter.report([METRIC], 8)
    reporter.close()
    first, second = (json.loads(line) for line in file.read_text().splitlines())
    assert (first["time_ms"], second["time_ms"]) == (7, 8)
    assert first["metrics"] == [
        {"name": "a", "group": "g", "tags": {"client-id": "c"}, "value": 1.5, "unit": "s"}
    ]


def test_json_to_stderr(capsys):
    JsonReporter().report([METRIC], 7)
    assert json.loads(capsys.readouterr().err)["time_ms"] == 7


def test_a_file_that_cannot_be_opened_is_a_configuration_error(tmp_path):
    with pytest.raises(ConfigError, match=r"metrics\.json\.file"):
        JsonReporter().configure({"metrics.json.file": str(tmp_path / "no" / "file")})
