"""kafka-consumer-perf-test: read messages, report throughput as Apache does."""

import argparse
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from barnabas.cli.apache.flags import (
    add_bootstrap_options,
    add_client_properties,
    connection_of,
    say,
)
from barnabas.cli.framework.exit_codes import DONE
from barnabas.runtime.clock import SystemClock

if TYPE_CHECKING:
    from barnabas.clients.group import Consumer

EXAMPLE = """
barnabas kafka-consumer-perf-test --bootstrap-server localhost:9092 --topic bench \\
    --messages 100000
"""
MEGABYTE = 1024 * 1024
HEADER = (
    "start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, "
    "rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"
)


class Measured(NamedTuple):
    """What a run brought."""

    start_ms: int
    end_ms: int
    records: int
    size: int
    join_ms: int


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
    parser.add_argument("--show-detailed-stats", action="store_true")
    parser.add_argument("--print-metrics", action="store_true")
    parser.add_argument("--date-format", default="yyyy-MM-dd HH:mm:ss:SSS", help=argparse.SUPPRESS)
    parser.add_argument("--reporting-interval", type=int, default=5000)
    parser.add_argument("--threads", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--num-fetch-threads", type=int, help=argparse.SUPPRESS)
    add_client_properties(parser, "consumer")
    add_bootstrap_options(parser, broker_list=True)


def run(arguments: argparse.Namespace) -> int:
    if not arguments.hide_header:
        say(HEADER)
    options = {
        "group_id": arguments.group or f"perf-consumer-{uuid4().hex[:6]}",
        "auto_offset_reset": "latest" if arguments.from_latest else "earliest",
        "max_partition_fetch_bytes": arguments.fetch_size,
        "max_poll_records": 10_000,
        "check_crcs": "false",
    }
    with connection_of(arguments).consumer(**options) as consumer:
        consumer.subscribe([arguments.topic])
        measured = _measure(consumer, arguments.messages, arguments.timeout)
    if measured.records < arguments.messages:
        sys.stderr.write(
            "WARNING: Exiting before consuming the expected number of messages: timeout "
            f"({arguments.timeout} ms) exceeded. You can use the --timeout option to increase "
            "the timeout.\n"
        )
    say(line(measured))
    return DONE


def _measure(consumer: "Consumer", wanted: int, timeout_ms: int) -> Measured:
    clock = SystemClock()
    start_ms = clock.now_ms()
    count = size = 0
    join_ms = 0
    last = time.monotonic()
    while count < wanted and (time.monotonic() - last) * 1000 <= timeout_ms:
        polled = consumer.poll(0.1)
        if not polled:
            continue
        join_ms = join_ms or clock.now_ms() - start_ms
        last = time.monotonic()
        for records in polled.values():
            count += len(records)
            size += sum(len(r.key or b"") + len(r.value or b"") for r in records)
    return Measured(start_ms, clock.now_ms(), count, size, join_ms)


def line(run: Measured) -> str:
    """The figures in Apache's columns."""
    seconds = max((run.end_ms - run.start_ms) / 1000, 0.001)
    fetch_ms = max(run.end_ms - run.start_ms - run.join_ms, 1)
    megabytes = run.size / MEGABYTE
    figures = (
        f"{_moment(run.start_ms)}, {_moment(run.end_ms)}, {megabytes:.4f}, "
        f"{megabytes / seconds:.4f}, {run.records}, {run.records / seconds:.4f}"
    )
    fetch_s = fetch_ms / 1000
    return (
        f"{figures}, {run.join_ms}, {fetch_ms}, {megabytes / fetch_s:.4f}, "
        f"{run.records / fetch_s:.4f}"
    )


def _moment(timestamp_ms: int) -> str:
    moment = datetime.fromtimestamp(timestamp_ms / 1000, UTC)
    return moment.strftime("%Y-%m-%d %H:%M:%S:") + f"{timestamp_ms % 1000:03d}"
