"""Value types of the overview: brokers, problems and rates."""

from typing import Literal

from barnabas.console.models.common import Model


class DiskSummary(Model):
    """A log directory; totals are None if the broker does not return them."""

    path: str
    error: str | None
    used_by_logs_bytes: int
    total_bytes: int | None
    usable_bytes: int | None


class BrokerSummary(Model):
    id: int
    address: str
    rack: str | None
    controller: bool
    leaders: int
    replicas: int
    under_replicated: int
    disks: list[DiskSummary]


class Problem(Model):
    """A problem in plain words, and the page that shows more."""

    severity: Literal["error", "warning"]
    text: str
    page: str | None = None


class Overview(Model):
    cluster_id: str | None
    controller: int | None
    metadata: str
    brokers: list[BrokerSummary]
    topics: int
    partitions: int
    offline: int
    under_replicated: int
    problems: list[Problem]


class RatePoint(Model):
    """Rates between two samples of all offsets; `records_out` counts commits of groups."""

    time_ms: int
    records_in: float
    records_out: float
    lag: int
    bytes_on_disk: int


class RateHistory(Model):
    points: list[RatePoint]
