"""Value types of topics."""

from typing import Annotated

from pydantic import Field

from barnabas.console.models.common import Model, Offset

ConfigName = Annotated[str, Field(min_length=1, max_length=200)]
ConfigText = Annotated[str, Field(max_length=10_000)]
PartitionKey = Annotated[str, Field(pattern=r"^[0-9]{1,7}$")]


class TopicSummary(Model):
    """One row of the list of topics. Values are None while they are not known."""

    name: str
    internal: bool
    partitions: int
    replication_factor: int
    under_replicated: int
    offline: int
    size_bytes: int | None = None
    records_per_second: float | None = None
    groups: int | None = None
    lag: int | None = None


class NewTopicBody(Model):
    """A topic to create; None selects the broker's default."""

    name: str = Field(min_length=1, max_length=249)
    partitions: int | None = Field(None, ge=1, le=100_000)
    replication_factor: int | None = Field(None, ge=1, le=1000)
    configs: dict[str, str] = Field(default_factory=dict)


class CreatedTopicBody(Model):
    name: str
    partitions: int | None
    replication_factor: int | None


class ReplicaDetail(Model):
    """One replica. `lag` and `size_bytes` are None if the broker does not return them."""

    broker: int
    leader: bool
    in_sync: bool
    online: bool
    size_bytes: int | None
    lag: int | None


class GroupPosition(Model):
    """The committed offset and the lag of a group in a partition."""

    group: str
    offset: int
    lag: int


class PartitionDetail(Model):
    """One partition; offsets are None while it has no leader."""

    partition: int
    leader: int | None
    leader_epoch: int
    replicas: list[ReplicaDetail]
    log_start_offset: int | None
    high_watermark: int | None
    groups: list[GroupPosition]


class TopicDetail(Model):
    name: str
    topic_id: str
    internal: bool
    partitions: int
    replication_factor: int
    brokers: list[int]
    size_bytes: int | None
    records_per_second: float | None


class ConfigItem(Model):
    """A configuration value; `value` of a sensitive key is None."""

    name: str
    value: str | None
    default: str | None
    source: str
    is_default: bool
    read_only: bool
    sensitive: bool
    documentation: str | None


class ConfigChanges(Model):
    """Values to set, and keys to reset to their default."""

    values: dict[ConfigName, ConfigText] = Field(default_factory=dict, max_length=200)
    reset: list[ConfigName] = Field(default_factory=list, max_length=200)


class NewPartitionsBody(Model):
    total: int = Field(ge=1, le=100_000, description="the new number of partitions")


class RecordDeletion(Model):
    """Deletes records before an offset per partition; without offsets, all records."""

    offsets: dict[PartitionKey, Offset] | None = Field(None, max_length=10_000)


class DeletedRecords(Model):
    log_start_offsets: dict[int, int]


class HistogramBucket(Model):
    start_ms: int
    end_ms: int
    records: int


class RecordHistogram(Model):
    """Records by time. `partitions` says how many partitions were counted."""

    start_ms: int | None
    end_ms: int | None
    buckets: list[HistogramBucket]
    partitions: int
