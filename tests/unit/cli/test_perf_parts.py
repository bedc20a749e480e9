"""The figures of the perf tools, in Apache's columns."""

import pytest

from barnabas.cli.apache.perf_consumer import ConsumeSample, format_time, throughput_columns
from barnabas.cli.apache.perf_producer import (
    SendStats,
    ToolMetric,
    Transactions,
    print_metrics,
    transaction_settings,
)
from barnabas.cli.nouns.perf import Latencies
from barnabas.model.errors import ConfigError

MEGABYTE = 1024 * 1024


def test_totals_of_a_producer_run():
    stats = SendStats(started=10.0, ended=12.0)
    stats.latencies.values_ms.extend(float(n) for n in range(1, 101))
    for _ in range(4):
        stats.sent(MEGABYTE // 2)
    assert stats.total_line(" steady state") == (
        "4 steady state records sent, 2.0 records/sec (1.00 MB/sec), 50.50 ms avg latency, "
        "100.00 ms max latency, 51 ms 50th, 96 ms 95th, 100 ms 99th, 100 ms 99.9th."
    )


def test_a_window_holds_what_came_since_the_last_one():
    stats = SendStats()
    assert stats.window_line(3600) is None
    stats.sent(1)
    stats.latencies.values_ms.append(5.0)
    assert stats.window_line(0).startswith("1 records sent, ")
    stats.latencies.values_ms.append(7.0)
    line = stats.window_line(0)
    assert line.startswith("0 records sent, 0.0 records/sec")
    assert line.endswith("7.0 ms avg latency, 7.0 ms max latency.")


class InstantProducer:
    """Delivers at once, and notes transactions."""

    def __init__(self):
        self.calls = []

    def send(self, topic, value, on_delivery=None):
        if on_delivery is not None:
            on_delivery(None, None)
        return self

    def done(self):
        return True

    def result(self):
        return None

    def flush(self):
        pass

    def init_transactions(self):
        self.calls.append("init")

    def begin_transaction(self):
        self.calls.append("begin")

    def commit_transaction(self):
        self.calls.append("commit")


def test_latencies_after_the_warm_up_count_twice():
    latencies, producer = Latencies(), InstantProducer()
    latencies.send(producer, "t", b"")
    steady = latencies.later()
    for _ in range(50):
        latencies.send(producer, "t", b"")
    latencies.finish(producer)
    assert (len(latencies.values_ms), len(steady.values_ms)) == (2, 1)


def test_transactions_are_committed_when_they_are_old_enough():
    producer = InstantProducer()
    transactions = Transactions(producer, 3_600_000)
    transactions.before_record()
    transactions.before_record()
    transactions.commit()
    transactions.commit()
    assert producer.calls == ["init", "begin", "commit"]
    producer.calls.clear()
    transactions = Transactions(producer, 0)
    transactions.before_record()
    transactions.before_record()
    assert producer.calls == ["init", "begin", "commit", "begin"]


def test_which_transactional_id():
    settings = {"transactional.id": "file"}
    assert transaction_settings(settings, None, 5) == 5
    assert settings == {"transactional.id": "file"}
    assert transaction_settings(settings, "flag", None) == 3000
    assert settings == {"transactional.id": "flag"}
    made = {}
    assert transaction_settings(made, None, 7) == 7
    assert made["transactional.id"].startswith("performance-producer-")
    assert transaction_settings({}, None, None) is None
    with pytest.raises(ConfigError):
        transaction_settings({}, "id", 0)


def test_columns_of_a_consumer_run():
    before = ConsumeSample(1_000, 10, MEGABYTE, 300)
    after = ConsumeSample(3_000, 30, 3 * MEGABYTE, 800)
    expected = "3.0000, 1.0000, 30, 10.0000, 500, 1500, 1.3333, 13.3333"
    assert throughput_columns(before, after, after) == expected


def test_a_time_is_printed_in_javas_pattern():
    assert format_time(1_700_000_000_007, "yy/MM HH.mm SSS") == "23/11 22.13 007"
    with pytest.raises(ConfigError, match="QQ"):
        format_time(0, "QQ")


def test_metrics_in_one_column(capsys):
    tags = {"topic": "t", "client-id": "c"}
    print_metrics([ToolMetric("b", "name", 1, tags), ToolMetric("a", "x", 0.5, {})])
    assert capsys.readouterr().out.splitlines() == [
        "",
        "Metric Name                     Value",
        "a:x:{}                        : 0.500",
        "b:name:{client-id=c, topic=t} : 1.000",
    ]
