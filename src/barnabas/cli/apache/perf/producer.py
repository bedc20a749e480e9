"""kafka-producer-perf-test: send records, report throughput and latency as Apache does."""

import argparse
import time
from pathlib import Path

from barnabas.cli.apache.flags import known_settings, say
from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.exit_codes import DONE
from barnabas.cli.framework.settings import BOOTSTRAP, key_values, read_properties
from barnabas.cli.perf.latencies import Latencies
from barnabas.cli.topic_data.copy import Pace
from barnabas.model.errors import ConfigError

EXAMPLE = """
barnabas kafka-producer-perf-test --topic bench --num-records 100000 --record-size 100 \\
    --throughput -1 --producer-props bootstrap.servers=localhost:9092
"""
MEGABYTE = 1024 * 1024
_PACE_EVERY = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--topic", required=True)
    parser.add_argument("--num-records", type=int, required=True)
    parser.add_argument("--throughput", type=float, required=True, help="-1: as fast as it goes")
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
    parser.add_argument("--print-metrics", action="store_true")
    parser.add_argument("--transactional-id")
    parser.add_argument("--transaction-duration-ms", type=int)
    parser.add_argument("--reporting-interval", type=int, default=5000)
    parser.add_argument("--warmup-records", type=int, default=0)


def run(arguments: argparse.Namespace) -> int:
    settings = read_properties(Path(arguments.config)) if arguments.config else {}
    settings.update(key_values(arguments.producer_props, "--producer-props"))
    if arguments.bootstrap_server:
        settings[BOOTSTRAP] = arguments.bootstrap_server
    if BOOTSTRAP not in settings:
        raise ConfigError("say where: --producer-props bootstrap.servers=HOST:PORT")
    payloads = _payloads(arguments)
    latencies = Latencies()
    pace = Pace(arguments.throughput if arguments.throughput > 0 else None)
    with Connection(known_settings(settings)).producer() as producer:
        producer.partitions_for(arguments.topic)
        started = time.perf_counter()
        size = 0
        for number in range(arguments.num_records):
            payload = payloads[number % len(payloads)] if payloads else b"%d" % number
            size += len(payload)
            latencies.send(producer, arguments.topic, payload)
            if number % _PACE_EVERY == 0:
                pace.after(_PACE_EVERY)
        latencies.finish(producer)
        elapsed = time.perf_counter() - started
    say(summary(arguments.num_records, size, elapsed, latencies))
    return DONE


def _payloads(arguments: argparse.Namespace) -> list[bytes]:
    if arguments.record_size is not None:
        return [b"S" * arguments.record_size]
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


def summary(count: int, size: int, elapsed: float, latencies: Latencies) -> str:
    """Apache's last line."""
    return (
        f"{count} records sent, {count / elapsed:.6f} records/sec "
        f"({size / elapsed / MEGABYTE:.2f} MB/sec), {latencies.average:.2f} ms avg latency, "
        f"{latencies.highest:.2f} ms max latency, {latencies.percentile(0.5):.0f} ms 50th, "
        f"{latencies.percentile(0.95):.0f} ms 95th, {latencies.percentile(0.99):.0f} ms 99th, "
        f"{latencies.percentile(0.999):.0f} ms 99.9th."
    )
