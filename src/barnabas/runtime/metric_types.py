"""Values that `metrics()` of a client returns and that reporters get, and their OTLP names."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, overload

from barnabas.runtime.metrics import MetricKind

CLIENT_ID = "client-id"
_OTLP_PREFIX = "org.apache.kafka."


@dataclass(frozen=True, slots=True)
class MetricName:
    """Name, group and tags of a metric.

    Clients have the names and groups of Kafka's Java clients, and the tag `client-id`. Brokers have
    the names and labels of `/metrics`, the tag `broker-id`, and as group Kafka's JMX object name,
    or an empty group where Kafka has no such metric. `tags` are pairs such as
    `("topic", "orders")`.
    """

    name: str
    group: str
    tags: tuple[tuple[str, str], ...] = ()
    description: str = field(default="", compare=False)

    def tag(self, name: str) -> str | None:
        """Returns the value of a tag, None if the metric has no such tag."""
        return dict(self.tags).get(name)


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric and its value at one moment.

    `value` is NaN for an average or maximum without values in the sample windows. `kind` is COUNTER
    for numbers that only grow, otherwise GAUGE.
    """

    name: MetricName
    value: float
    unit: str
    kind: MetricKind


class MetricValues(Mapping[MetricName, Metric]):
    """All metrics of a client at one moment.

    >>> values = producer.metrics()  # doctest: +SKIP
    >>> values.value("record-send-total", topic="orders")  # doctest: +SKIP
    1000.0
    """

    def __init__(self, metrics: Iterable[Metric], former: Mapping[str, Any] | None = None) -> None:
        """`former` are the keys of a dictionary that a client returned before."""
        self._metrics = {metric.name: metric for metric in metrics}
        self._former = former or {}

    @overload
    def __getitem__(self, name: MetricName) -> Metric: ...

    @overload
    def __getitem__(self, name: str) -> Any: ...

    def __getitem__(self, name: MetricName | str) -> Any:
        if isinstance(name, MetricName):
            return self._metrics[name]
        if name not in self._former:
            raise KeyError(f"{name!r}: use value({name!r})")
        text = f"metrics()[{name!r}] is deprecated: use metrics().value(), lag() or position()"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return self._former[name]

    def __iter__(self) -> Iterator[MetricName]:
        return iter(self._metrics)

    def __len__(self) -> int:
        return len(self._metrics)

    def value(self, name: str, **tags: object) -> float:
        """Returns the value of the metric with exactly these tags, beside `client-id`.

        Args:
            name: Kafka's name, such as "records-lag-max".
            tags: such as `topic="orders"` or `partition=0`; underscores stand for hyphens.

        Raises:
            KeyError: there is no such metric.
        """
        wanted = {key.replace("_", "-"): str(text) for key, text in tags.items()}
        for metric in self.find(name):
            found = dict(metric.name.tags)
            found.pop(CLIENT_ID, None)
            if found == wanted:
                return metric.value
        raise KeyError(f"{name} {wanted}" if wanted else name)

    def find(self, name: str) -> list[Metric]:
        """Returns the metrics with this name, with all tags."""
        return [metric for metric in self._metrics.values() if metric.name.name == name]


def telemetry_name(name: MetricName) -> str:
    """Returns the name of a metric in OpenTelemetry: KIP-714's, for brokers that of `/metrics`.

    >>> telemetry_name(MetricName("record-send-total", "producer-topic-metrics"))
    'org.apache.kafka.producer.topic.record.send.total'
    """
    if not name.group or ":" in name.group:  # of a broker
        return name.name
    group = name.group.removesuffix("-metrics")
    return _OTLP_PREFIX + f"{group}.{name.name}".replace("-", ".")


def attributes(name: MetricName, *, with_client_id: bool) -> dict[str, str]:
    """Returns the tags as attributes; a broker knows the client id from the request."""
    return {
        tag.replace("-", "_"): value
        for tag, value in name.tags
        if with_client_id or tag != CLIENT_ID
    }
