"""Value types of the cluster: overview, reassignments, transactions, access, quotas, versions."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from barnabas.console.models.common import BrokerId, Model, PartitionIndex

Topic = Annotated[str, Field(min_length=1, max_length=249)]
Name = Annotated[str, Field(min_length=1, max_length=300)]


class ReassignmentItem(Model):
    """A reassignment in progress; `copied` is the share of the bytes that new replicas have."""

    topic: str
    partition: int
    replicas: list[int]
    adding: list[int]
    removing: list[int]
    copied: float | None


class ReassignmentBody(Model):
    """The new replicas of a partition; None cancels its reassignment."""

    topic: Topic
    partition: PartitionIndex
    replicas: list[BrokerId] | None = Field(max_length=100)


class ElectionBody(Model):
    """Elects leaders; without a topic, preferred leaders of all partitions that need it."""

    kind: Literal["preferred", "unclean"] = "preferred"
    topic: Topic | None = None
    partition: PartitionIndex | None = None


class ElectionResult(Model):
    elected: int
    errors: dict[str, str]


class TransactionItem(Model):
    transactional_id: str
    producer_id: int
    state: str
    coordinator: int
    started_ms: int | None
    timeout_ms: int | None
    partitions: list[str]


class HangingItem(Model):
    """An open transaction in a partition that no coordinator will end."""

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    start_offset: int
    last_timestamp: int


class AbortBody(Model):
    topic: Topic
    partition: PartitionIndex
    producer_id: int = Field(ge=0, le=2**63 - 1)
    producer_epoch: int = Field(ge=0, le=32767)
    coordinator_epoch: int = Field(0, ge=0, le=2**31 - 1)


class AclItem(Model):
    principal: Name
    host: Name = "*"
    operation: Name
    permission: Literal["allow", "deny"]
    resource_type: Name
    resource_name: Name
    pattern: Literal["literal", "prefixed"] = "literal"


class AccessBody(Model):
    """ACLs and SCRAM users; `authorizer` is False if the cluster has no authorizer."""

    authorizer: bool
    acls: list[AclItem]
    users: dict[str, list[str]]


class QuotaItem(Model):
    """Quotas of an entity; `<default>` is the entity without its own quota."""

    user: Annotated[str, Field(max_length=300)] | None = None
    client_id: Annotated[str, Field(max_length=300)] | None = None
    ip: Annotated[str, Field(max_length=300)] | None = None
    values: dict[Name, float | None] = Field(max_length=20)


class ApiVersionItem(Model):
    key: int
    name: str
    min_version: int
    max_version: int


class FeatureItem(Model):
    name: str
    supported: str
    finalized: str | None


class VersionsBody(Model):
    apis: list[ApiVersionItem]
    features: list[FeatureItem]


class LogDirItem(Model):
    broker: int
    path: str
    error: str | None
    replicas: int
    size_bytes: int
    total_bytes: int | None
    usable_bytes: int | None
    moving: int


class TreeNode(Model):
    """A node of the ZooKeeper tree; secrets are hidden."""

    path: str
    children: list[str]
    data: str | None
    size: int


class PushedMetric(Model):
    """The last value of a metric that a client pushed; None if it is not a finite number."""

    name: str
    attributes: str
    value: float | None


class ClientMetricsItem(Model):
    """A client that pushes its metrics."""

    client_id: str
    software: str
    principal: str
    instance_id: str
    metrics: list[PushedMetric]


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


class ConnectionState(Model):
    """Whether a broker answers; the other fields are set only while none does."""

    reachable: bool
    last_answer: datetime | None = Field(
        None, description="when a broker answered last; None if none did since the start"
    )
    message: str | None = None
