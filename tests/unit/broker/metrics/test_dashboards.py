"""Dashboards and alert rules name only metrics and labels that are served."""

import json
import re
from importlib import resources

import pytest

from barnabas.broker.metrics import catalog, component_catalog
from barnabas.runtime.metrics import MetricKind
from barnabas.spark import query_metrics
from scripts.metrics import declared

FOLDER = resources.files("barnabas.broker.metrics.files")
BOARDS = sorted(f.name for f in FOLDER.iterdir() if f.name.endswith(".json"))
METRICS = {m.prometheus_name: m for m in declared(catalog, component_catalog, query_metrics)}
NAME = re.compile(r"\b(?:kafka|barnabas|process)_\w+")
SELECTOR = re.compile(r"\b((?:kafka|barnabas|process)_\w+)\s*\{([^}]*)\}")
GROUPING = re.compile(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)")
OF_PROMETHEUS = {"instance", "job", "le"}


def metric_named(name):
    """The declared metric of a name in a query; None if there is none."""
    for suffix in ("_total", "_sum", "_count", ""):
        found = METRICS.get(name.removesuffix(suffix)) if name.endswith(suffix) else None
        if found is not None and _has_suffix(found.kind, suffix):
            return found
    return None


def _has_suffix(kind, suffix):
    return (
        suffix
        in {
            MetricKind.COUNTER: {"_total"},
            MetricKind.GAUGE: {""},
            MetricKind.HISTOGRAM: {"", "_sum", "_count"},
        }[kind]
    )


def labels_of(metric):
    quantile = {"quantile"} if metric.kind is MetricKind.HISTOGRAM else set()
    return {*metric.labels, *quantile, *OF_PROMETHEUS}


def problems(expression, shown=""):
    """Returns the metrics and labels in a query and its legend that no broker serves."""
    names = NAME.findall(expression)
    found = [f"no metric {name}" for name in names if metric_named(name) is None]
    for name, selectors in SELECTOR.findall(expression):
        given = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selectors))
        found += [f"{name} has no label {x}" for x in given - labels_of(metric_named(name))]
    known = OF_PROMETHEUS.union(
        *(labels_of(metric_named(name)) for name in names if metric_named(name))
    )
    grouped = [label.strip() for text in GROUPING.findall(expression) for label in text.split(",")]
    used = [label for label in grouped if label] + re.findall(r"\{\{\s*(?:\$labels\.)?(\w+)", shown)
    return found + [f"no label {label}: {expression}" for label in used if label not in known]


@pytest.mark.parametrize("name", BOARDS)
def test_a_dashboard_uses_metrics_and_labels_that_exist(name):
    board = json.loads((FOLDER / name).read_text())
    targets = [target for panel in board["panels"] for target in panel["targets"]]
    assert targets
    assert [p for t in targets for p in problems(t["expr"], t.get("legendFormat", ""))] == []
    queries = [str(v.get("query", "")) for v in board.get("templating", {}).get("list", [])]
    for metric, label in re.findall(r"label_values\((\w+),\s*(\w+)\)", " ".join(queries)):
        assert label in labels_of(metric_named(metric))


def test_the_alert_rules():
    text = (FOLDER / "alerts.yml").read_text()
    rules = re.split(r"^\s*- alert: ", text, flags=re.MULTILINE)[1:]
    assert rules
    for rule in rules:
        expression = re.search(r"expr:\s*(.*?)\n\s*(?:for|labels|annotations):", rule, re.DOTALL)[1]
        shown = rule.replace("{{ $value", "")
        assert problems(expression, shown) == []


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("kafka_server_brokertopicmetrics_messagesin", ""),  # without _total
        ("kafka_server_nothing_total", ""),
        ('kafka_server_brokertopicmetrics_messagesin_total{group="g"}', ""),
        ("sum by (group) (kafka_server_brokertopicmetrics_messagesin_total)", ""),
        ("kafka_server_brokertopicmetrics_messagesin_total", "{{partition}}"),
    ],
)
def test_a_mistake_is_found(expression, shown):
    assert problems(expression, shown) != []
