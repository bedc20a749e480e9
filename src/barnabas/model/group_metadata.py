"""What a consumer tells a transactional producer: who it is, and where it stands."""

from typing import NamedTuple


class GroupMetadata(NamedTuple):
    """A consumer's membership; from `Consumer.group_metadata()`."""

    group_id: str
    generation_id: int = -1
    member_id: str = ""
    group_instance_id: str | None = None


class OffsetAndMetadata(NamedTuple):
    """A position: the next offset to read, and what the application wants to remember."""

    offset: int
    metadata: str = ""
    leader_epoch: int = -1
