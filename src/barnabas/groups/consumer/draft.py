"""Changes to a KIP-848 group that are not in the log yet.

Every call changes a copy of the group and adds the record of that change. After a successful append
the copy replaces the group; after a failed append the copy is dropped.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from barnabas.coordination import CoordinatorRecord
from barnabas.groups import records
from barnabas.groups.consumer.group import (
    ConsumerGroup,
    ConsumerGroupMember,
    Partitions,
    ResolvedRegex,
    TopicMetadata,
)


@dataclass(slots=True)
class ConsumerDraft:
    """The changes of one step to a consumer group, before they are in the log.

    `group` is the state after the changes; before the first change it is the current group.
    """

    group: ConsumerGroup
    records: list[CoordinatorRecord] = field(default_factory=list)
    _copied: bool = False

    @classmethod
    def of_new(cls, group: ConsumerGroup) -> "ConsumerDraft":
        """Returns a draft of a new group, which needs no copy."""
        return cls(group, _copied=True)

    def put_member(self, member: ConsumerGroupMember) -> None:
        """Stores the metadata of a member."""
        self._writable().put_member(member)
        self.records.append(records.consumer_member(self.group.group_id, member))

    def put_current_assignment(self, member: ConsumerGroupMember) -> None:
        """Stores epoch, state and partitions of a member."""
        self._writable().put_member(member)
        self.records.append(records.consumer_current_assignment(self.group.group_id, member))

    def remove_member(self, member_id: str) -> None:
        group = self._writable()
        group.remove_member(member_id)
        group.target.pop(member_id, None)
        self.records += records.consumer_member_tombstones(group.group_id, member_id)

    def put_target(self, member_id: str, partitions: Partitions) -> None:
        self._writable().target[member_id] = partitions
        self.records.append(
            records.consumer_target_member(self.group.group_id, member_id, partitions)
        )

    def set_target_epoch(self, epoch: int) -> None:
        self._writable().target_epoch = epoch
        self.records.append(records.consumer_target_epoch(self.group.group_id, epoch))

    def bump_epoch(self, reason: str) -> None:
        group = self._writable()
        self.set_epoch(group.group_epoch + 1, reason)

    def set_epoch(self, epoch: int, reason: str) -> None:
        """Starts a group epoch; the reason is stored with it."""
        self._writable().group_epoch = epoch
        self.records.append(records.consumer_epoch(self.group.group_id, epoch, reason))

    def set_subscription_metadata(self, metadata: Mapping[str, TopicMetadata]) -> None:
        self._writable().subscription_metadata = dict(metadata)
        self.records.append(records.consumer_subscription_metadata(self.group.group_id, metadata))

    def put_regex(self, regex: str, resolved: ResolvedRegex) -> None:
        self._writable().regexes[regex] = resolved
        self.records.append(records.consumer_regex(self.group.group_id, regex, resolved))

    def remove_regex(self, regex: str) -> None:
        self._writable().regexes.pop(regex, None)
        self.records.append(records.consumer_regex_tombstone(self.group.group_id, regex))

    def replace_member(self, old: ConsumerGroupMember, new_id: str) -> ConsumerGroupMember:
        """Gives a static member a new id; it keeps its target and partitions."""
        target = self.group.target_of(old.member_id)
        new = old._replace(member_id=new_id, member_epoch=0, previous_member_epoch=0)
        self.remove_member(old.member_id)
        self.put_member(new)
        self.put_target(new_id, target)
        self.put_current_assignment(new)
        return new

    def _writable(self) -> ConsumerGroup:
        if not self._copied:
            self.group = self.group.copy()
            self._copied = True
        return self.group
