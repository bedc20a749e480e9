"""kafka-producer-perf-test: send records and report throughput and latency."""

import argparse
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from barnabas.cli.apache.flags import say, without_java_classes
from barnabas.cli.framework.connection import BOOTSTRAP, Connection, own_settings, read_properties
from barnabas.cli.framework.output import DONE
from barnabas.cli.nouns.perf import Latencies
from barnabas.cli.record_io.transfer import Pace
from barnabas.model.errors import ConfigError

if TYPE_CHECKING:
    from barnabas.clients.producer import Producer

MEGABYTE = 1024 * 1024
ID_KEY = "transactional.id"
DEFAULT_DURATION_MS = 3000
EXAMPLE = """
barnabas kafka-producer-perf-test --topic bench --num-records 100000 --record-size 100 \\
    --throughput -1 --producer-props bootstrap.servers=localhost:9092
barnabas kafka-producer-perf-test --topic bench --num-records 100000 --record-size 100 \\
    --throughput 5000 --bootstrap-server localhost:9092 --warmup-records 10000 \\
    --transaction-duration-ms 500 --print-metrics
"""
CLIENT_ID = "perf-producer-client"
_CHECK_EVERY = 100
_POOL = 64


class ToolMetric(NamedTuple):
    """One metric of the tool, with its value."""

    group: str
    name: str
    value: float
    tags: Mapping[str, str]

    def __str__(self) -> str:
        tags = ", ".join(f"{key}={value}" for key, value in sorted(self.tags.items()))
        return f"{self.group}:{self.name}:{{{tags}}}"


def print_metrics(metrics: list[ToolMetric]) -> None:
    """Prints the metrics sorted by name."""
    width = max((len(str(metric)) for metric in metrics), default=0)
    say(f"\n{'Metric Name':<{width}}   Value")
    for metric in sorted(metrics, key=str):
        say(f"{metric!s:<{width}} : {metric.value:.3f}")


@dataclass(slots=True)
class SendStats:
    """Counts sent records from its creation; a window is the time since the last printed line."""

    latencies: Latencies = field(default_factory=Latencies)
    count: int = 0
    size: int = 0
    largest: int = 0
    started: float = field(default_factory=time.perf_counter)
    ended: float | None = None
    _window: tuple[int, int, int, float] | None = None

    def sent(self, size: int) -> None:
        self.count += 1
        self.size += size
        self.largest = max(self.largest, size)

    @property
    def seconds(self) -> float:
        return max((self.ended or time.perf_counter()) - self.started, 1e-6)

    def window_line(self, interval_s: float) -> str | None:
        """Returns the line of a reporting interval, or None before its end."""
        now = time.perf_counter()
        count, size, timed, since = self._window or (0, 0, 0, self.started)
        if now - since < interval_s:
            return None
        elapsed, values = now - since, self.latencies.values_ms[timed:]
        self._window = (self.count, self.size, timed + len(values), now)
        average = sum(values) / len(values) if values else 0.0
        sent, megabytes = self.count - count, (self.size - size) / MEGABYTE
        return (
            f"{sent} records sent, {sent / elapsed:.1f} records/sec "
            f"({megabytes / elapsed:.2f} MB/sec), {average:.1f} ms avg latency, "
            f"{max(values, default=0.0):.1f} ms max latency."
        )

    def total_line(self, kind: str = "") -> str:
        """Returns the last line; `kind` is " steady state" for the records after the warm-up."""
        latencies = self.latencies
        shares = ((0.5, "50th"), (0.95, "95th"), (0.99, "99th"), (0.999, "99.9th"))
        tail = ", ".join(f"{latencies.percentile(share):.0f} ms {name}" for share, name in shares)
        return (
            f"{self.count}{kind} records sent, {self.count / self.seconds:.1f} records/sec "
            f"({self.size / self.seconds / MEGABYTE:.2f} MB/sec), {latencies.average:.2f} ms avg "
            f"latency, {latencies.highest:.2f} ms max latency, {tail}."
        )


def transaction_settings(
    settings: dict[str, str], wanted_id: str | None, duration_ms: int | None
) -> int | None:
    """Sets the transactional id and returns the duration of a transaction; None without one.

    >>> transaction_settings({"transactional.id": "t"}, None, None)
    3000
    """
    if duration_ms is not None and duration_ms <= 0:
        raise ConfigError("--transaction-duration-ms should be greater than 0")
    if wanted_id:
        settings[ID_KEY] = wanted_id
    elif duration_ms is not None and not settings.get(ID_KEY):
        settings[ID_KEY] = f"performance-producer-{uuid4()}"
    if not settings.get(ID_KEY):
        return None
    return duration_ms or DEFAULT_DURATION_MS


class Transactions:
    """Commits at a fixed interval; begins at the first record after a commit, so none is empty."""

    def __init__(self, producer: "Producer", duration_ms: int) -> None:
        self._producer = producer
        self._seconds = duration_ms / 1000
        self._began: float | None = None
        self.committed = 0
        producer.init_transactions()

    def before_record(self) -> None:
        now = time.monotonic()
        if self._began is not None and now - self._began >= self._seconds:
            self.commit()
        if self._began is None:
            self._producer.begin_transaction()
            self._began = now

    def commit(self) -> None:
        """Commits the open transaction, if there is one."""
        if self._began is not None:
            self._producer.commit_transaction()
            self._began = None
            self.committed += 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--topic", required=True)
    parser.add_argument("--num-records", type=int, required=True)
    parser.add_argument(
        "--throughput", type=float, required=True, help="records per second; -1 for no limit"
    )
    payload = parser.add_mutually_exclusive_group(required=True)
    payload.add_argument("--record-size", type=int)
    payload.add_argument("--payload-file", metavar="FILE")
    payload.add_argument("--payload-monotonic", action="store_true")
    parser.add_argument("--payload-delimiter", default="\\n")
    parser.add_argument(
        "--producer-props", "--command-property", nargs="+", default=[], metavar="KEY=VALUE"
    )
    parser.add_argument("--producer.config", "--command-config", dest="config", metavar="FILE")
    parser.add_argument("--bootstrap-server", metavar="HOST:PORT")
    parser.add_argument("--print-metrics", action="store_true", help="print metrics at the end")
    parser.add_argument("--transactional-id", help="send in transactions under this id")
    parser.add_argument(
        "--transaction-duration-ms", type=int, help="duration of a transaction (default: 3000)"
    )
    parser.add_argument(
        "--reporting-interval", type=int, default=5000, help="ms between lines (default: 5000)"
    )
    parser.add_argument(
        "--warmup-records",
        type=int,
        default=0,
        help="report the records after these separately too",
    )


def run(arguments: argparse.Namespace) -> int:
    settings = _settings(arguments)
    if not 0 <= arguments.warmup_records < arguments.num_records:
        raise ConfigError("--warmup-records must be fewer than --num-records")
    duration_ms = transaction_settings(
        settings, arguments.transactional_id, arguments.transaction_duration_ms
    )
    payloads = _payloads(arguments)
    connection = Connection(without_java_classes(settings))
    with connection.producer(client_id=CLIENT_ID) as producer:
        producer.partitions_for(arguments.topic)
        transactions = None if duration_ms is None else Transactions(producer, duration_ms)
        total, steady = _send_all(producer, arguments, payloads, transactions)
    say(total.total_line())
    if arguments.warmup_records:
        say(steady.total_line(" steady state"))
    if arguments.print_metrics:
        client_id = settings.get("client.id", CLIENT_ID)
        print_metrics(_metrics(total, client_id, arguments.topic, transactions))
    return DONE


def _settings(arguments: argparse.Namespace) -> dict[str, str]:
    settings = read_properties(Path(arguments.config)) if arguments.config else {}
    settings.update(own_settings(arguments.producer_props, "--producer-props"))
    if arguments.bootstrap_server:
        settings[BOOTSTRAP] = arguments.bootstrap_server
    if BOOTSTRAP not in settings:
        raise ConfigError(
            "the bootstrap servers are missing: --producer-props bootstrap.servers=HOST:PORT"
        )
    return settings


def _send_all(
    producer: "Producer",
    arguments: argparse.Namespace,
    payloads: list[bytes],
    transactions: Transactions | None,
) -> tuple[SendStats, SendStats]:
    """Sends all records; returns the figures of the run and of the part after the warm-up."""
    total, steady = SendStats(), SendStats()
    pace = Pace(arguments.throughput if arguments.throughput > 0 else None)
    interval_s = arguments.reporting_interval / 1000
    for number in range(arguments.num_records):
        if number == arguments.warmup_records:
            steady = SendStats(latencies=total.latencies.later())
        payload = payloads[number % len(payloads)] if payloads else b"%d" % number
        if transactions is not None:
            transactions.before_record()
        total.latencies.send(producer, arguments.topic, payload)
        total.sent(len(payload))
        steady.sent(len(payload))
        if number % _CHECK_EVERY == 0:
            pace.after(_CHECK_EVERY)
            line = total.window_line(interval_s)
            if line is not None:
                say(line)
    total.latencies.finish(producer)
    if transactions is not None:
        transactions.commit()
    total.ended = steady.ended = time.perf_counter()
    return total, steady


def _metrics(
    total: SendStats, client_id: str, topic: str, transactions: Transactions | None
) -> list[ToolMetric]:
    mine = {"client-id": client_id}
    figures = {
        "record-send-total": total.count,
        "record-send-rate": total.count / total.seconds,
        "record-size-avg": total.size / max(total.count, 1),
        "record-size-max": total.largest,
        "record-error-total": 0,  # an error ends the run
    }
    if transactions is not None:
        figures["txn-commit-total"] = transactions.committed
    of_topic = {
        "record-send-total": total.count,
        "record-send-rate": total.count / total.seconds,
        "byte-total": total.size,
        "byte-rate": total.size / total.seconds,
    }
    return [
        *(ToolMetric("producer-metrics", name, value, mine) for name, value in figures.items()),
        *(
            ToolMetric("producer-topic-metrics", name, value, {**mine, "topic": topic})
            for name, value in of_topic.items()
        ),
    ]


def _payloads(arguments: argparse.Namespace) -> list[bytes]:
    if arguments.record_size is not None:
        # A pool of random letters: equal bytes would compress to almost nothing.
        rng = random.Random(0)
        letters = range(ord("A"), ord("Z") + 1)
        return [bytes(rng.choices(letters, k=arguments.record_size)) for _ in range(_POOL)]
    if arguments.payload_file is None:
        return []
    divider = arguments.payload_delimiter.replace("\\n", "\n").encode()
    try:
        pieces = Path(arguments.payload_file).read_bytes().split(divider)
    except OSError as error:
        raise ConfigError(f"--payload-file: {error.strerror}") from error
    found = [piece for piece in pieces if piece]
    if not found:
        raise ConfigError("--payload-file is empty")
    return found
