"""Every metric of Kafka's operations guide is served, or docs/metrics.md gives a reason."""

import re
from pathlib import Path

from barnabas.broker.metrics import catalog, component_catalog
from barnabas.clients.metrics.catalog import CATALOG
from barnabas.clients.metrics.catalog import NOT_SERVED as NOT_SERVED_BY_CLIENTS
from scripts.metrics import NOT_SERVED, declared

GUIDE = Path(__file__).parents[2] / "golden" / "kafka_operations_metrics.txt"
_PARTS = re.compile(r"^kafka\.[\w.]+:type=([\w-]+)(?:,name=([\w-]+))?$")


def sections():
    brokers, clients = GUIDE.read_text().split("\n\n")
    return brokers.split(), clients.split()


def words(names):
    return set(re.findall(r"[\w-]+", " ".join(names)))


def test_metrics_of_brokers():
    served = [
        _PARTS.match(m.kafka_name) for m in declared(catalog, component_catalog) if m.kafka_name
    ]
    names = {(found[1], found[2]) for found in served}
    types = {kind for kind, _ in names}
    reasons = words(name for name, _ in NOT_SERVED)
    without = []
    for line in sections()[0]:
        kind, name = _PARTS.match(line).groups()
        # Kafka's averages and maxima are the sum, the count and the quantiles of a summary, and
        # Prometheus computes its rates from the counters.
        plain = name and re.sub("-rate$", "-count", re.sub("-(avg|max)$", "", name))
        is_served = kind in types if name is None else (kind, plain) in names
        if not is_served and not {kind, name} & reasons:
            without.append(line)
    assert without == []


def test_metrics_of_clients():
    served = {metric.name for metric in CATALOG.values()}
    reasons = words(NOT_SERVED_BY_CLIENTS)
    assert [name for name in sections()[1] if name not in served | reasons] == []
