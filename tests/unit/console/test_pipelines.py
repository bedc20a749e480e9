"""Pipelines: status files, topology, and the rules of the SQL editor."""

import json

import pytest

from barnabas.console.models.common import ListQuery
from barnabas.console.services.pipelines import (
    PipelineService,
    check_bounded,
    properties_text,
    result_of,
    topology_of,
)
from barnabas.model.errors import LocalError
from barnabas.spark.pipeline import DeadLetters, Pipeline, Source, TableSink, TopicSink, Where

STATUS = {
    "name": "spending",
    "state": "failed",
    "error": "no such column",
    "file": "/somewhere/spending.py",
    "checkpoint": "/c",
    "started": "2024-01-01T00:00:00+00:00",
    "updated": "2024-01-01T00:00:01+00:00",
    "batch": 4,
    "rows": 10,
    "rows_per_second": 12.5,
    "lag": 3,
    "batch_ms": 80,
    "phases": {"addBatch": 60, "queryPlanning": 5},
    "state_rows": 7,
    "state_bytes": 900,
}


@pytest.fixture
def service(tmp_path):
    (tmp_path / "spending.json").write_text(json.dumps(STATUS), encoding="utf-8")
    return PipelineService(tmp_path)


async def test_a_status_file_is_a_row_of_the_list(service):
    page = await service.list_pipelines(ListQuery(search="SPEND"))
    (row,) = page.items
    assert (row.name, row.state, row.lag, row.state_rows) == ("spending", "failed", 3, 7)
    assert (await service.list_pipelines(ListQuery(search="other"))).items == []


async def test_phases_and_the_error_are_described(service):
    detail = await service.describe("spending")
    assert [(item.name, item.milliseconds) for item in detail.phases] == [
        ("addBatch", 60),
        ("queryPlanning", 5),
    ]
    assert detail.summary.error == "no such column"
    assert detail.topology is None


@pytest.mark.parametrize("name", ["missing", "../spending", "a\0b", ".hidden", ""])
async def test_an_unknown_or_invalid_name_is_an_error(service, name):
    with pytest.raises(LocalError, match="has run here"):
        await service.describe(name)


async def test_a_status_of_an_older_version_without_phases_is_read(tmp_path):
    (tmp_path / "old.json").write_text('{"name": "old", "state": "finished"}', encoding="utf-8")
    detail = await PipelineService(tmp_path).describe("old")
    assert (detail.phases, detail.state_bytes) == ([], None)


def test_the_topology_has_sources_steps_sink_and_dead_letters():
    pipeline = Pipeline(
        name="p",
        source=Source(["a", "b"], format="json", schema="x int"),
        steps=[Where("x > 0")],
        sink=TableSink("sqlite:///x.db", "totals"),
        checkpoint="c",
        dead_letters=DeadLetters(),
    )
    topology = topology_of(pipeline)
    assert [node.label for node in topology.nodes] == [
        "a",
        "b",
        "Where: x > 0",
        "table totals",
        "dead letters: a.dlq",
        "dead letters: b.dlq",
    ]
    assert ("step-0", "sink") in topology.edges
    assert ("source-1", "step-0") in topology.edges


def test_a_pipeline_without_steps_connects_source_and_sink():
    pipeline = Pipeline(name="p", source=Source("a"), sink=TopicSink("b"), checkpoint="c")
    assert topology_of(pipeline).edges == [("source-0", "sink")]


@pytest.mark.parametrize(
    "text", ["SELECT 1", "show streams;", " describe a ;", "WITH x AS (…) SELECT"]
)
def test_bounded_statements_are_accepted(text):
    check_bounded(text)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("CREATE STREAM s (a INT) WITH (kafka_topic='t')", "only"),
        ("", "only"),
        ("SELECT * FROM s EMIT   changes", "has no end"),
        ("SELECT 1; DROP STREAM s", "one statement"),
    ],
)
def test_other_statements_are_rejected(text, cause):
    with pytest.raises(LocalError, match=cause):
        check_bounded(text)


def test_rows_and_messages_of_the_child_process_are_read():
    result = result_of(b'[{"a": 1, "b": "x"}, {"a": 2, "b": null}]\n', 1, 0.5)
    assert (result.columns, result.rows, result.truncated) == (
        ["a", "b"],
        [{"a": 1, "b": "x"}],
        True,
    )
    lines = result_of(b'{"a": 1}\n{"a": 2}\n{"message": "done", "query": null}\n', 10, 0.5)
    assert (len(lines.rows), lines.message) == (2, "done")


def test_settings_survive_a_properties_file():
    assert properties_text({"a": "b\\c\nd"}) == "a=b\\\\c\\nd\n"
