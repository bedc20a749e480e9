"""Names and attributes of client metrics in OpenTelemetry, as KIP-714 defines them."""

from barnabas.clients.metrics.metric_types import CLIENT_ID, MetricName

PREFIX = "org.apache.kafka."


def telemetry_name(name: MetricName) -> str:
    """Returns the name of a metric in OpenTelemetry.

    >>> telemetry_name(MetricName("record-send-total", "producer-topic-metrics"))
    'org.apache.kafka.producer.topic.record.send.total'
    """
    group = name.group.removesuffix("-metrics")
    return PREFIX + f"{group}.{name.name}".replace("-", ".")


def attributes(name: MetricName, *, with_client_id: bool) -> dict[str, str]:
    """Returns the tags as attributes; a broker knows the client id from the request."""
    return {
        tag.replace("-", "_"): value
        for tag, value in name.tags
        if with_client_id or tag != CLIENT_ID
    }
