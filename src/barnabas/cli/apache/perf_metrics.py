"""The table of --print-metrics: figures that the tool measured, under the names of Kafka's metrics.

Metric Name                                              Value
producer-metrics:record-send-total:{client-id=perf}    : 100.000
"""

from collections.abc import Mapping
from typing import NamedTuple

from barnabas.cli.apache.flags import say


class Metric(NamedTuple):
    """One metric."""

    group: str
    name: str
    value: float
    tags: Mapping[str, str]

    def __str__(self) -> str:
        tags = ", ".join(f"{key}={value}" for key, value in sorted(self.tags.items()))
        return f"{self.group}:{self.name}:{{{tags}}}"


def print_metrics(metrics: list[Metric]) -> None:
    """Prints the metrics sorted by name."""
    width = max((len(str(metric)) for metric in metrics), default=0)
    say(f"\n{'Metric Name':<{width}}   Value")
    for metric in sorted(metrics, key=str):
        say(f"{metric!s:<{width}} : {metric.value:.3f}")
