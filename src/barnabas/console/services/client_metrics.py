"""Metrics that clients push to the brokers (KIP-714), read from the brokers' HTTP endpoints.

Kafka's protocol has no request that returns these metrics, so the console needs the addresses of
the endpoints (`--metrics-url`). A broker that cannot be read has no clients here; the others do.
"""

import asyncio
import logging
import math
import urllib.request
from collections.abc import Iterable, Iterator, Sequence

from prometheus_client.parser import text_string_to_metric_families

from barnabas.console.models.cluster import ClientMetricsItem, PushedMetric

_logger = logging.getLogger("barnabas.console")
_TIMEOUT_S = 5.0
_FAMILY = "kafka_client_telemetry"


class ClientMetricsService:
    """Reads all endpoints for each request; the texts are parsed in threads."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = tuple(_metrics_url(url) for url in urls)

    async def list_clients(self) -> list[ClientMetricsItem]:
        """Returns the clients of all brokers, by their ids."""
        found = await asyncio.gather(*(asyncio.to_thread(_read, url) for url in self._urls))
        clients = [client for clients in found for client in clients]
        return sorted(clients, key=lambda item: (item.client_id, item.instance_id))


def _metrics_url(text: str) -> str:
    """Returns the URL of /metrics from an address or a URL.

    >>> _metrics_url("localhost:9404"), _metrics_url("https://b1:9404/metrics")
    ('http://localhost:9404/metrics', 'https://b1:9404/metrics')
    """
    url = (text if "//" in text else f"http://{text}").rstrip("/")
    return url if url.endswith("/metrics") else f"{url}/metrics"


def _read(url: str) -> list[ClientMetricsItem]:
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as reply:
            return list(clients_of(reply.read().decode().splitlines()))
    except (OSError, ValueError) as error:
        _logger.warning("the metrics at %s cannot be read: %s", url, error)
        return []


def clients_of(lines: Iterable[str]) -> Iterator[ClientMetricsItem]:
    """Yields the clients in a broker's metrics; other families are not parsed."""
    text = "\n".join(line for line in lines if line.startswith(_FAMILY + "{"))
    clients: dict[str, ClientMetricsItem] = {}
    for family in text_string_to_metric_families(text + "\n"):
        for sample in family.samples:
            labels = sample.labels
            instance = labels.get("client_instance_id", "")
            client = clients.get(instance)
            if client is None:
                client = clients[instance] = ClientMetricsItem(
                    client_id=labels.get("client_id", ""),
                    software=labels.get("software", ""),
                    principal=labels.get("principal", ""),
                    instance_id=instance,
                    metrics=[],
                )
            client.metrics.append(
                PushedMetric(
                    name=labels.get("metric", ""),
                    attributes=labels.get("attributes", ""),
                    value=sample.value if math.isfinite(sample.value) else None,
                )
            )
    yield from clients.values()
