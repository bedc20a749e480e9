"""Writes docs/conformance.md from the results of the last full run; --check compares only.

The results come from `python -m scenarios.matrix --out tests/scenarios/results.json`.
"""

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.generated_page import table, write_or_check

PAGE = Path("docs/conformance.md")
RESULTS = Path("tests/scenarios/results.json")
COMMAND = "python -m scripts.conformance"
CLIENTS = ["barnabas", "barnabas.aio", "confluent-kafka", "kafka-python", "aiokafka", "java"]
BROKERS = ["single", "cluster", "kafka"]
MARKS = {"same": "=", "different": "≠", "missing": "none", "failed": "FAILED"}

INTRO = """# Conformance

Scenarios are short scripts of user actions (`tests/scenarios/scripts`). Each one states what a user
observes according to Kafka's documentation: partitions used, records and their order, committed
offsets, errors. The same script runs with our clients and with others, on our brokers and on Apache
Kafka. This page is generated from the last full run.

- Clients: `barnabas` (blocking) and `barnabas.aio`, {versions}.
- Brokers: `single` is one broker of ours, `cluster` three on ZooKeeper, `kafka` Apache Kafka.
- `=`: the expected observations. `≠`: a known difference. `= 7`: the expected observations in this
  run; in others the difference with this number was seen. `none`: the library lacks the feature.
  Blank: the scenario does not apply (tools of libraries without tools, brokers that cannot be
  killed).
- A cell with one mark holds for every broker; otherwise the broker is named. Numbers refer to the
  reasons below the tables.

{totals}

To run it again:

```sh
export PYTHONPATH=tests BARNABAS_KAFKA_JARS=/path/to/kafka/libs
python -m scenarios.matrix --brokers single,cluster,kafka --out tests/scenarios/results.json
python -m scripts.conformance
```

Apache Kafka is started from the jars, unless `--kafka HOST:PORT` names one. That one needs
`group.initial.rebalance.delay.ms=0`, `group.min.session.timeout.ms=100`, and replication factor 1
for its internal topics.
"""


@dataclass
class Reasons:
    """Reasons in the order of their first use; each has a number."""

    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers) + 1)


def main() -> int:
    return write_or_check(PAGE, page(json.loads(RESULTS.read_text(encoding="utf-8"))), COMMAND)


def page(run: dict[str, Any]) -> str:
    """The page of a run: its `scenarios`, its `results`, the versions of the `clients`."""
    results = {(r["scenario"], r["client"], r["broker"]): r for r in run["results"]}
    reasons = Reasons()
    parts = []
    for area in dict.fromkeys(item["area"] for item in run["scenarios"]):
        rows = [
            [_title(item), *(_cell(results, item["name"], client, reasons) for client in CLIENTS)]
            for item in run["scenarios"]
            if item["area"] == area
        ]
        parts.append(f"## {area.capitalize()}\n\n{table(['scenario', *CLIENTS], rows)}\n")
    listed = [[str(number), text] for text, number in reasons.numbers.items()]
    parts.append(f"## Reasons\n\n{table(['number', 'reason'], listed)}\n")
    intro = INTRO.format(versions=_versions(run["clients"]), totals=_totals(run["results"]))
    return "\n".join([intro, *parts])


def _title(item: dict[str, str]) -> str:
    return f"{item['title']} `{item['name']}`"


def _cell(
    results: dict[tuple[str, str, str], dict[str, str]], name: str, client: str, reasons: Reasons
) -> str:
    marks = {
        broker: _mark(results[(name, client, broker)], reasons)
        for broker in BROKERS
        if (name, client, broker) in results
    }
    if len(set(marks.values())) <= 1:
        return next(iter(marks.values()), "")
    return ", ".join(f"{broker} {mark}" for broker, mark in marks.items())


def _mark(result: dict[str, str], reasons: Reasons) -> str:
    mark = MARKS[result["verdict"]]
    return f"{mark} {reasons.number(result['reason'])}" if result["reason"] else mark


def _versions(clients: dict[str, str]) -> str:
    others = [name for name in CLIENTS if not name.startswith("barnabas")]
    return ", ".join(f"{name} {clients[name]}" for name in others if name in clients)


def _totals(results: Iterable[dict[str, str]]) -> str:
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for result in results:
        row = counts.setdefault((result["client"], result["broker"]), {})
        row[result["verdict"]] = row.get(result["verdict"], 0) + 1
    rows = [
        [client, broker, *(str(counts[(client, broker)].get(verdict, 0)) for verdict in MARKS)]
        for client in CLIENTS
        for broker in BROKERS
        if (client, broker) in counts
    ]
    return table(["client", "broker", "same", "different", "missing", "failed"], rows)


if __name__ == "__main__":
    sys.exit(main())
