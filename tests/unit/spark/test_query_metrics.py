"""Metrics for Prometheus, computed from the progress that Spark reports."""

from support.network.scrape import Scrape

from barnabas.spark.query_metrics import MetricsServer, QueryFigures, QueryMetrics


def progress(batch, rows):
    return {
        "batchId": batch,
        "numInputRows": rows,
        "durationMs": {"addBatch": 80, "walCommit": 10, "triggerExecution": 100},
        "sources": [{"endOffset": {"t": {"0": 3}}, "latestOffset": {"t": {"0": 10}}}],
        "stateOperators": [{"numRowsTotal": 5, "memoryUsedBytes": 640}],
    }


def idle(batch, *, behind=0):
    """Spark's report of a trigger without new data: `batchId` is that of the next micro-batch."""
    return {
        "batchId": batch,
        "numInputRows": 0,
        "durationMs": {"latestOffset": 2, "triggerExecution": 2},
        "sources": [{"endOffset": {"t": {"0": 3}}, "latestOffset": {"t": {"0": 3 + behind}}}],
        "stateOperators": [{"numRowsTotal": 4, "memoryUsedBytes": 512}],
    }


def served(metrics):
    with MetricsServer(metrics, 0) as server:
        return Scrape(server.url.removesuffix("/metrics"))


def test_the_progress_of_a_query_is_served():
    metrics = QueryMetrics()
    metrics.record("spending", progress(1, 50))
    metrics.record("spending", progress(1, 50))  # read twice
    metrics.record("spending", progress(2, 20))
    with MetricsServer(metrics, 0) as server:
        found = Scrape(server.url.removesuffix("/metrics"))
        metrics.ended("spending", failed=True)
        after = Scrape(server.url.removesuffix("/metrics"))
    assert found("barnabas_query_rows_total", group="spending") == 70
    assert found("barnabas_query_rows_per_second", group="spending") == 200
    assert found("barnabas_query_batch_seconds", group="spending", phase="addBatch") == 0.08
    assert found("barnabas_query_batch_seconds", group="spending", phase="triggerExecution") == 0.1
    lag = found("kafka_consumergroup_lag", group="spending", topic="t", partition="0")
    assert lag == 7
    assert found("barnabas_query_state_rows", group="spending") == 5
    assert found("barnabas_query_state_bytes", group="spending") == 640
    assert found("barnabas_query_failed", group="spending") == 0
    assert after("barnabas_query_failed", group="spending") == 1


def test_an_idle_progress_keeps_the_last_micro_batch():
    before = QueryFigures.of(progress(4, 50))
    figures = QueryFigures.of(idle(5, behind=2), before)
    assert (figures.batch, figures.batch_ms, figures.phases) == (4, 100, before.phases)
    assert (figures.rows, figures.rows_per_second) == (0, 0.0)
    assert (figures.lag, figures.state_rows, figures.state_bytes) == (2, 4, 512)


def test_a_query_that_has_executed_nothing_has_no_micro_batch():
    figures = QueryFigures.of(idle(0))
    assert (figures.batch, figures.batch_ms, figures.phases) == (None, 0, {})
    assert figures.line("p") == "p  batch -  0 rows/s  lag 0  0 ms"


def test_the_rows_after_an_idle_progress_are_counted():
    metrics = QueryMetrics()
    for report in (progress(4, 50), idle(5), progress(5, 7), idle(6), idle(6)):
        metrics.record("spending", report)
    found = served(metrics)
    assert found("barnabas_query_rows_total", group="spending") == 57
    assert found("barnabas_query_rows_per_second", group="spending") == 0
    assert found("barnabas_query_batch_seconds", group="spending", phase="addBatch") == 0.08


def test_the_rows_of_a_query_that_starts_again_from_nothing_are_counted():
    metrics = QueryMetrics()
    for run in ("first", "second"):
        metrics.record("spending", {**progress(0, 50), "runId": run})
    assert served(metrics)("barnabas_query_rows_total", group="spending") == 100


def test_a_query_without_new_data_has_no_rate():
    metrics = QueryMetrics()
    metrics.idle("unknown")
    metrics.record("spending", progress(4, 50))
    metrics.idle("spending")
    found = served(metrics)
    assert found("barnabas_query_rows_per_second", group="spending") == 0
    assert found("barnabas_query_rows_total", group="spending") == 50
