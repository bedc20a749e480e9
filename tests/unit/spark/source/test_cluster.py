"""How long a source asks a cluster that does not answer."""

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


@pytest.mark.parametrize(("seconds", "repeated"), [(45.0, 3), (-1.0, 0)])
def test_what_has_taken_long_is_not_begun_again(monkeypatch, caplog, seconds, repeated):
    monkeypatch.setattr(cluster, "AGAIN_SECONDS", seconds)
    reader = SourceCluster(SourceOptions.parse(OPTIONS, streaming=True))
    try:
        with pytest.raises(DeadlineError):
            reader.partitions()
    finally:
        reader.close()
    assert sum("trying again" in text for text in caplog.messages) == repeated
