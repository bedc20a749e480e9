"""kafka-consumer-perf-test: read messages and report the throughput."""

import argparse
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from barnabas.cli.apache.flags import (
    add_bootstrap_options,
    add_client_properties,
    connection_of,
    say,
)
from barnabas.cli.apache.perf_producer import ToolMetric, print_metrics
from barnabas.cli.framework.output import DONE
from barnabas.model.errors import ConfigError
from barnabas.runtime.clock import SystemClock

if TYPE_CHECKING:
    from barnabas.clients.group import Consumer

MEGABYTE = 1024 * 1024
COLUMNS = (
    "data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, "
    "rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"
)
TOTAL_HEADER = f"start.time, end.time, {COLUMNS}"
DETAILED_HEADER = f"time, threadId, {COLUMNS}"
_FIELDS = {
    "yyyy": "%Y",
    "yy": "%y",
    "MM": "%m",
    "dd": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
    "SSS": None,
}
EXAMPLE = """
barnabas kafka-consumer-perf-test --bootstrap-server localhost:9092 --topic bench \\
    --messages 100000
barnabas kafka-consumer-perf-test --bootstrap-server localhost:9092 --topic bench \\
    --messages 100000 --show-detailed-stats --reporting-interval 1000 --print-metrics
"""
CLIENT_ID = "perf-consumer-client"
THREAD = 0


@dataclass(frozen=True, slots=True)
class ConsumeSample:
    """Totals of a run at a time; `joining_ms` is the time without assigned partitions."""

    at_ms: int
    records: int = 0
    size: int = 0
    joining_ms: int = 0


def throughput_columns(before: ConsumeSample, after: ConsumeSample, whole: ConsumeSample) -> str:
    """Returns the columns: amounts of the `whole` run, rates between two samples."""
    elapsed_ms = max(after.at_ms - before.at_ms, 1)
    joining_ms = after.joining_ms - before.joining_ms
    fetch_ms = max(elapsed_ms - joining_ms, 1)
    megabytes = (after.size - before.size) / MEGABYTE
    records = after.records - before.records
    return (
        f"{whole.size / MEGABYTE:.4f}, {megabytes * 1000 / elapsed_ms:.4f}, {whole.records}, "
        f"{records * 1000 / elapsed_ms:.4f}, {joining_ms}, {fetch_ms}, "
        f"{megabytes * 1000 / fetch_ms:.4f}, {records * 1000 / fetch_ms:.4f}"
    )


def format_time(timestamp_ms: int, pattern: str) -> str:
    """Returns a time formatted with the common letters of Java's SimpleDateFormat.

    >>> format_time(1_700_000_000_123, "yyyy-MM-dd HH:mm:ss:SSS")
    '2023-11-14 22:13:20:123'
    """
    when = datetime.fromtimestamp(timestamp_ms // 1000, UTC)
    text, at = "", 0
    while at < len(pattern):
        end = at + 1
        while end < len(pattern) and pattern[end] == pattern[at]:
            end += 1
        text += _field(when, timestamp_ms, pattern[at:end])
        at = end
    return text


def _field(when: datetime, timestamp_ms: int, letters: str) -> str:
    if not letters[0].isalpha():
        return letters
    if letters not in _FIELDS:
        known = ", ".join(_FIELDS)
        raise ConfigError(f"--date-format: {letters!r} is not one of {known}")
    code = _FIELDS[letters]
    return f"{timestamp_ms % 1000:03d}" if code is None else when.strftime(code)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--topic", required=True)
    parser.add_argument("--messages", "--num-records", dest="messages", type=int, required=True)
    parser.add_argument("--group", default=None)
    parser.add_argument("--from-latest", action="store_true")
    parser.add_argument("--fetch-size", type=int, default=1024 * 1024)
    parser.add_argument("--fetch-max-wait-ms", type=int, default=None)
    parser.add_argument("--socket-buffer-size", type=int, default=2 * 1024 * 1024)
    parser.add_argument("--timeout", type=int, default=10_000, help="milliseconds")
    parser.add_argument("--hide-header", action="store_true")
    parser.add_argument(
        "--show-detailed-stats", action="store_true", help="print a line per interval"
    )
    parser.add_argument("--print-metrics", action="store_true", help="print metrics at the end")
    parser.add_argument(
        "--date-format", default="yyyy-MM-dd HH:mm:ss:SSS", help="letters of SimpleDateFormat"
    )
    parser.add_argument(
        "--reporting-interval", type=int, default=5000, help="milliseconds (default: 5000)"
    )
    parser.add_argument("--threads", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--num-fetch-threads", type=int, help=argparse.SUPPRESS)
    add_client_properties(parser, "consumer")
    add_bootstrap_options(parser, broker_list=True)


def run(arguments: argparse.Namespace) -> int:
    format_time(0, arguments.date_format)
    if arguments.threads is not None or arguments.num_fetch_threads is not None:
        sys.stderr.write(
            "WARNING: option [threads] and [num-fetch-threads] have been deprecated and will be "
            "ignored by the test\n"
        )
    if not arguments.hide_header:
        say(DETAILED_HEADER if arguments.show_detailed_stats else TOTAL_HEADER)
    with connection_of(arguments).consumer(**_options(arguments)) as consumer:
        measured = Measurement(consumer, arguments)
        measured.run()
        metrics = measured.metrics() if arguments.print_metrics else []
    if measured.now.records < arguments.messages:
        sys.stderr.write(
            "WARNING: Exiting before consuming the expected number of messages: timeout "
            f"({arguments.timeout} ms) exceeded. You can use the --timeout option to increase "
            "the timeout.\n"
        )
    if not arguments.show_detailed_stats:
        say(measured.total_line())
    if arguments.print_metrics:
        print_metrics(metrics)
    return DONE


def _options(arguments: argparse.Namespace) -> dict[str, object]:
    options = {
        "group_id": arguments.group or f"perf-consumer-{uuid4().hex[:6]}",
        "client_id": CLIENT_ID,
        "auto_offset_reset": "latest" if arguments.from_latest else "earliest",
        "max_partition_fetch_bytes": arguments.fetch_size,
        "receive_buffer_bytes": arguments.socket_buffer_size,
        "max_poll_records": 10_000,
        "check_crcs": "false",
    }
    if arguments.fetch_max_wait_ms is not None:
        options["fetch_max_wait_ms"] = arguments.fetch_max_wait_ms
    return options


class Measurement:
    """One run. It is also the rebalance listener, to measure the time without partitions."""

    def __init__(self, consumer: "Consumer", arguments: argparse.Namespace) -> None:
        self._consumer = consumer
        self._arguments = arguments
        self._clock = SystemClock()
        self._joining_since: int | None = self._clock.now_ms()
        self._joining_ms = 0
        self.start = self.now = ConsumeSample(self._clock.now_ms())

    def on_partitions_assigned(self, _: object) -> None:
        if self._joining_since is not None:
            self._joining_ms += self._clock.now_ms() - self._joining_since
            self._joining_since = None

    def on_partitions_revoked(self, _: object) -> None:
        self._joining_since = self._clock.now_ms()

    def run(self) -> None:
        """Polls until --messages records are read or none arrives for --timeout."""
        arguments = self._arguments
        self._consumer.subscribe([arguments.topic], self)
        last, reported = time.monotonic(), self.start
        while self.now.records < arguments.messages:
            polled = self._consumer.poll(0.1)
            if polled:
                last = time.monotonic()
            elif (time.monotonic() - last) * 1000 > arguments.timeout:
                break
            self._count(polled)
            due = self.now.at_ms - reported.at_ms >= arguments.reporting_interval
            if arguments.show_detailed_stats and due:
                say(self._interval_line(reported))
                reported = self.now

    def _count(self, polled: dict[Any, list[Any]]) -> None:
        records, size = self.now.records, self.now.size
        for some in polled.values():
            records += len(some)
            size += sum(len(r.key or b"") + len(r.value or b"") for r in some)
        self.now = ConsumeSample(self._clock.now_ms(), records, size, self._joining_ms)

    def _interval_line(self, since: ConsumeSample) -> str:
        when = format_time(self.now.at_ms, self._arguments.date_format)
        return f"{when}, {THREAD}, {throughput_columns(since, self.now, self.now)}"

    def total_line(self) -> str:
        """Returns the line of the whole run."""
        pattern = self._arguments.date_format
        times = f"{format_time(self.start.at_ms, pattern)}, {format_time(self.now.at_ms, pattern)}"
        return f"{times}, {throughput_columns(self.start, self.now, self.now)}"

    def metrics(self) -> list[ToolMetric]:
        """Returns the metrics of the run under Kafka's names."""
        now, known = self.now, self._consumer.metrics()
        seconds = max((now.at_ms - self.start.at_ms) / 1000, 0.001)
        tags = {"client-id": CLIENT_ID}
        fetched = {
            "records-consumed-total": now.records,
            "records-consumed-rate": now.records / seconds,
            "bytes-consumed-total": now.size,
            "bytes-consumed-rate": now.size / seconds,
            "records-lag-max": known.value("records-lag-max"),
        }
        found = [
            ToolMetric("consumer-fetch-manager-metrics", name, value, tags)
            for name, value in fetched.items()
        ]
        assigned = int(known.value("assigned-partitions"))
        found.append(
            ToolMetric("consumer-coordinator-metrics", "assigned-partitions", assigned, tags)
        )
        for name in ("records-lag", "records-lead"):
            for metric in known.find(name):
                here = {**tags, **dict(metric.name.tags)}
                found.append(ToolMetric("consumer-fetch-manager-metrics", name, metric.value, here))
        return found
