"""Group membership and offsets that a consumer passes to a transactional producer."""

from typing import NamedTuple


class GroupMetadata(NamedTuple):
    """Membership of a consumer in its group, as `Consumer.group_metadata()` returns it."""

    group_id: str
    generation_id: int = -1
    member_id: str = ""
    group_instance_id: str | None = None


class OffsetAndMetadata(NamedTuple):
    """A committed offset: the next offset to read, and metadata of the application."""

    offset: int
    metadata: str = ""
    leader_epoch: int = -1
