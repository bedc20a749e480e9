"""Value types of groups: lag, members, resets and rebalances."""

from datetime import datetime
from typing import Literal

from pydantic import Field, model_validator

from barnabas.console.models.common import INT64_MAX, Model, Offset, PartitionIndex

ResetRuleName = Literal["earliest", "latest", "offset", "time", "shift"]


class LagBody(Model):
    """The lag of a group over all its partitions. Values are None while they are not known.

    `seconds` is the age of the oldest record that is not committed. `change_per_second` is the
    change of `records` in the last minute. `catch_up_seconds` is None if the lag does not shrink.
    """

    records: int
    seconds: float | None = None
    change_per_second: float | None = None
    catch_up_seconds: float | None = None


class GroupSummary(Model):
    """One row of the list of groups."""

    name: str
    type: str
    state: str
    protocol: str
    members: int | None = None
    topics: int = 0
    lag: int | None = None
    lag_seconds: float | None = None
    change_per_second: float | None = None
    catch_up_seconds: float | None = None


class GroupPartitionBody(Model):
    """One partition with a committed offset or an assigned member."""

    topic: str
    partition: int
    committed: int | None
    log_end: int | None
    lag: int | None
    lag_seconds: float | None = None
    member: str | None = None
    metadata: str = ""


class MemberPartition(Model):
    topic: str
    partition: int


class MemberBody(Model):
    """A member; `target` is set while a KIP-848 group moves partitions."""

    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    epoch: int | None = None
    assigned: list[MemberPartition]
    target: list[MemberPartition] | None = None


class GroupDetail(Model):
    """A group with members, partitions and lag.

    Not `described`: the console knows only name, type and state of groups of this type.
    """

    name: str
    type: str
    state: str
    protocol: str
    assignor: str
    coordinator: int | None
    epoch: int | None = None
    members: list[MemberBody]
    partitions: list[GroupPartitionBody]
    lag: LagBody
    described: bool = True


class ResetBody(Model):
    """New committed offsets of a group: a rule, and the partitions it applies to.

    Without `topic` the rule applies to all partitions with a committed offset. `value` is the
    offset or the shift, `time` the time of the rule `time`.
    """

    rule: ResetRuleName
    topic: str | None = Field(None, min_length=1, max_length=249)
    partitions: list[PartitionIndex] | None = Field(None, min_length=1, max_length=10_000)
    value: int | None = Field(None, ge=-INT64_MAX, le=INT64_MAX)
    time: datetime | None = None

    @model_validator(mode="after")
    def _check(self) -> "ResetBody":
        if self.rule in ("offset", "shift") and self.value is None:
            raise ValueError(f"rule {self.rule!r} needs a value")
        if self.rule == "offset" and (self.value or 0) < 0:
            raise ValueError("an offset must not be negative")
        if self.rule == "time" and self.time is None:
            raise ValueError("rule 'time' needs a time")
        if self.partitions is not None and self.topic is None:
            raise ValueError("partitions need a topic")
        return self


class PlannedOffsetBody(Model):
    """The new offset of a partition; `again` records are read again, `skipped` are not read."""

    topic: str
    partition: int
    current: int | None
    new: int
    log_start: Offset
    log_end: Offset
    again: int
    skipped: int


class ResetPlanBody(Model):
    """The effect of a reset. `blocked` names why it cannot be applied now."""

    group: str
    partitions: list[PlannedOffsetBody]
    again: int
    skipped: int
    blocked: str | None = None


class RemoveMembersBody(Model):
    """The members to remove; without a list all members are removed."""

    members: list[str] | None = Field(None, min_length=1, max_length=1000)
    reason: str = Field("removed in the console", max_length=200)


class RemovedMembersBody(Model):
    removed: int
    errors: dict[str, str] = Field(default_factory=dict)


class MovedPartition(Model):
    """A partition with another owner than before; None: no owner."""

    topic: str
    partition: int
    before: str | None
    after: str | None


class RebalanceBody(Model):
    """One rebalance: the change from one generation of a group to the next.

    `reason` is known for brokers that store it. `seconds` is the time from the start of the
    rebalance until the assignment was stored or, in a KIP-848 group, until all members had their
    partitions. Apache Kafka does not store the start of a classic rebalance; `seconds` is then the
    time in which the leader computed the assignment.
    """

    generation: int
    finished: datetime
    seconds: float | None = None
    reason: str | None = None
    assignor: str = ""
    members: int
    joined: list[str]
    left: list[str]
    moved: list[MovedPartition]
    unchanged: int


class RebalancesBody(Model):
    """Rebalances, the newest first; not `complete` if older ones were compacted or left out."""

    group: str
    items: list[RebalanceBody]
    complete: bool
