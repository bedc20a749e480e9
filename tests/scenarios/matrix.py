"""Runs scenarios by client by broker and writes the results: `python -m scenarios.matrix`."""

import argparse
import dataclasses
import json
import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager
from importlib.metadata import version
from pathlib import Path

from scenarios import brokers
from scenarios.adapter import Client
from scenarios.catalog import JARS_VARIABLE, applies, client_makers, scenarios
from scenarios.registry import CLUSTER, KAFKA, SINGLE, Scenario
from scenarios.runner import FAILED, Result, run
from scenarios.world import Control

RESULTS = Path(__file__).parent / "results.json"


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    chosen = [s for s in scenarios().values() if _wanted(s, options.only)]
    found: list[Result] = []
    for broker in options.brokers.split(","):
        with _place(broker, options.kafka) as control:
            found += run_on(broker, control, chosen, options.clients, options.threads)
    for result in found:
        if result.verdict == FAILED:
            print(f"{result.scenario} [{result.client} on {result.broker}]\n    {result.reason}")
    if options.out is not None:
        write(found, options.out)
    for result in sorted(found, key=lambda item: -item.seconds)[: options.slowest]:
        print(f"{result.seconds:6.1f} s {result.scenario} [{result.client} on {result.broker}]")
    failed = sum(result.verdict == FAILED for result in found)
    print(f"{len(found)} runs, {failed} failed", flush=True)
    return 1 if failed else 0


def run_on(
    broker: str, control: Control, chosen: Iterable[Scenario], names: str | None, threads: int
) -> list[Result]:
    """All clients on one set of brokers; scripts that kill brokers run alone, at the end."""
    makers = client_makers()
    picked = names.split(",") if names else list(makers)
    clients = [makers[name]() for name in picked]
    try:
        pairs = [
            (scenario, client)
            for scenario in chosen
            for client in clients
            if applies(scenario, client.name, broker)
        ]
        shared = [pair for pair in pairs if pair[0].area != "failover"]
        alone = [pair for pair in pairs if pair[0].area == "failover"]
        results = list(_side_by_side(shared, broker, control, threads))
        results += [run(scenario, client, broker, control) for scenario, client in alone]
        return results
    finally:
        for client in clients:
            client.close()


def _side_by_side(
    pairs: list[tuple[Scenario, Client]], broker: str, control: Control, threads: int
) -> Iterator[Result]:
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(run, *pair, broker, control) for pair in pairs]
        for number, future in enumerate(as_completed(futures), 1):
            result = future.result()
            yield result
            if sys.stderr.isatty():
                print(f"\r{number}/{len(futures)} on {broker}", end="", file=sys.stderr)


def _place(broker: str, address: str | None) -> AbstractContextManager[Control]:
    if broker == KAFKA:
        return brokers.kafka(address)
    return {SINGLE: brokers.single, CLUSTER: brokers.cluster}[broker]()


def _wanted(scenario: Scenario, only: str | None) -> bool:
    words = only.split(",") if only else []
    return not words or scenario.name in words or scenario.area in words


def write(found: list[Result], path: Path) -> None:
    """Results that were not repeated are kept from the earlier file."""
    kept = {}
    if path.exists():
        for item in json.loads(path.read_text(encoding="utf-8"))["results"]:
            kept[(item["scenario"], item["client"], item["broker"])] = item
    for result in found:
        item = dataclasses.asdict(result)
        del item["observed"], item["seconds"]
        kept[(result.scenario, result.client, result.broker)] = item
    known = scenarios()
    run = {
        "clients": versions(),
        "scenarios": [
            {"name": item.name, "area": item.area, "title": item.title} for item in known.values()
        ],
        "results": [kept[key] for key in sorted(kept) if key[0] in known],
    }
    path.write_text(json.dumps(run, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def versions() -> dict[str, str]:
    """Versions of the other clients; Java's is in the name of its jar."""
    found = {name: version(name) for name in ("confluent-kafka", "kafka-python", "aiokafka")}
    for jar in Path(os.environ.get(JARS_VARIABLE, "")).glob("kafka-clients-*.jar"):
        found["java"] = jar.stem.removeprefix("kafka-clients-")
    return found


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scenarios.matrix", description=__doc__)
    parser.add_argument("--brokers", default=SINGLE, help="single, cluster, kafka; by commas")
    parser.add_argument("--kafka", metavar="HOST:PORT", help="unless given, run from the jars")
    parser.add_argument("--clients", help="names by commas; all unless given")
    parser.add_argument("--only", help="names of scenarios or areas by commas")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--slowest", type=int, default=0, help="print that many slow runs")
    parser.add_argument(
        "--out", type=Path, help="file of results, e.g. tests/scenarios/results.json"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
