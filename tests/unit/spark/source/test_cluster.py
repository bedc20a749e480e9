"""Retries of requests to a cluster that does not respond."""

import pytest

from barnabas.model.errors import DeadlineError
from barnabas.spark.source import cluster
from barnabas.spark.source.cluster import SourceCluster
from barnabas.spark.source.options import SourceOptions

OPTIONS = {
    "kafka.bootstrap.servers": "127.0.0.1:1",
    "kafka.default.api.timeout.ms": "30",
    "kafka.retry.backoff.ms": "1",
    "subscribe": "orders",
    "fetchOffset.retryIntervalMs": "1",
}


def failures(monkeypatch, caplog, seconds, seen):
    monkeypatch.setattr(cluster, "FIRST_RESPONSE_SECONDS", seconds)
    reader = SourceCluster(SourceOptions.parse(OPTIONS, streaming=True))
    try:
        if seen:
            with monkeypatch.context() as patch:
                patch.setattr(reader, "_partitions", lambda may_be_gone: {})
                assert reader.partitions() == {}
        with pytest.raises(DeadlineError):
            reader.partitions()
    finally:
        reader.close()
    return sum("is retried" in text for text in caplog.messages)


@pytest.mark.parametrize(("seconds", "repeated"), [(45.0, 3), (-1.0, 0)])
def test_an_unreachable_cluster_fails_early(monkeypatch, caplog, seconds, repeated):
    assert failures(monkeypatch, caplog, seconds, seen=False) == repeated


def test_a_reached_cluster_is_retried_as_often_as_configured(monkeypatch, caplog):
    assert failures(monkeypatch, caplog, -1.0, seen=True) == 3
