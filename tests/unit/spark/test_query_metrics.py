"""Metrics of queries: what Spark's progress becomes for Prometheus."""

from support.network.scrape import Scrape

from barnabas.spark.query_metrics import MetricsServer, QueryMetrics


def progress(batch, rows):
    return {
        "batchId": batch,
        "numInputRows": rows,
        "durationMs": {"addBatch": 80, "walCommit": 10, "triggerExecution": 100},
        "sources": [{"endOffset": {"t": {"0": 3}}, "latestOffset": {"t": {"0": 10}}}],
        "stateOperators": [{"numRowsTotal": 5, "memoryUsedBytes": 640}],
    }


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
