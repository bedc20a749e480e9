"""The groups of one shard by id."""

from dataclasses import dataclass, field

from barnabas.groups.classic.group import ClassicGroup
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError

Group = ClassicGroup | ConsumerGroup


@dataclass(slots=True)
class GroupTable:
    """Owned by the shard."""

    groups: dict[str, Group] = field(default_factory=dict)

    def get(self, group_id: str) -> Group | None:
        return self.groups.get(group_id)

    def existing(self, group_id: str) -> Group:
        group = self.groups.get(group_id)
        if group is None:
            raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        return group

    def existing_consumer(self, group_id: str) -> ConsumerGroup:
        group = self.existing(group_id)
        if not isinstance(group, ConsumerGroup):
            raise BrokerError(
                ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group."
            )
        return group

    def put(self, group: Group) -> None:
        self.groups[group.group_id] = group

    def remove(self, group_id: str) -> None:
        self.groups.pop(group_id, None)
