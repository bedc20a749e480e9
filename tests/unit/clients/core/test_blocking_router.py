"""Errors of the blocking router for topics and partitions that do not exist."""

import pytest

from barnabas.clients.core import blocking_router
from barnabas.clients.core.blocking_router import BlockingRouter
from barnabas.clients.core.options import ClientOptions
from barnabas.model.config_keys.client import SIMPLE_KEYS
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, DeadlineError, UnavailableError
from barnabas.model.ids import TopicPartition


@pytest.fixture
def router():
    values = SIMPLE_KEYS.parse({"bootstrap.servers": "localhost:1", "retry.backoff.ms": 1})
    return BlockingRouter(ClientOptions.from_values(values))


def failing(error):
    def operation(_):
        raise error

    return operation


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "topic 'ordres'"), 1),
        (UnavailableError("no broker"), 0),
    ],
)
def test_an_unknown_topic_is_logged_once(router, caplog, monkeypatch, error, told):
    monkeypatch.setattr(blocking_router, "WARN_AFTER_S", -1.0)
    with pytest.raises(DeadlineError, match="ordres-0: "):
        router.retry(failing(error), 0.05, "ordres-0")
    assert len(caplog.messages) == told
    assert all("retrying for up to 0.05 s" in text for text in caplog.messages)


def test_a_partition_that_is_no_number_is_not_looked_for(router):
    with pytest.raises(TypeError, match=r"TopicPartition\('orders', 0\), got "):
        router.leader(TopicPartition("orders", "0"))
