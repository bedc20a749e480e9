"""The member id and the generation of a classic member, without IO.

Both change only by a response to the member's own request, or when it leaves.
"""

from barnabas.clients.group.classic_assignment import NO_GENERATION
from barnabas.clients.group.classic_protocol import leave_request
from barnabas.clients.group.membership_actions import Removal
from barnabas.clients.group.settings import GroupSettings
from barnabas.model.error_codes import ErrorCode
from barnabas.model.group_metadata import GroupMetadata
from barnabas.wire.message import Message


class ClassicIdentity:
    """Member id and generation. Owned by its `ClassicMember`."""

    __slots__ = ("_settings", "generation", "member_id", "removal")

    def __init__(self, settings: GroupSettings) -> None:
        self._settings = settings
        self.member_id = ""
        self.generation = NO_GENERATION
        self.removal: Removal | None = None

    def __str__(self) -> str:
        return self._settings.instance_id or self.member_id

    @property
    def metadata(self) -> GroupMetadata:
        """The identity in commits and heartbeats; no member id while there is no generation."""
        return GroupMetadata(
            self._settings.group_id,
            self.generation,
            self.member_id if self.generation >= 0 else "",
            self._settings.instance_id,
        )

    def joined(self, member_id: str, generation: int) -> None:
        self.member_id, self.generation = member_id, generation
        self.removal = None

    def fenced(self, reason: str) -> None:
        """Clears the generation after the coordinator removed this member.

        After ILLEGAL_GENERATION the member id is still valid and is kept: with a new id, the
        coordinator would wait for the old one until its session ends.
        """
        if self.generation >= 0:
            self.removal = Removal(self.metadata, reason)
        if reason != ErrorCode.ILLEGAL_GENERATION.name:
            self.member_id = ""
        self.generation = NO_GENERATION

    def forget(self) -> None:
        """Clears everything after the member has left."""
        self.member_id, self.generation = "", NO_GENERATION
        self.removal = None

    def leave_request(self, reason: str) -> Message | None:
        """Returns None for a member that never joined, and for a static member.

        A static member stays in the group until its session ends (KIP-345).
        """
        if not self.member_id or self._settings.instance_id is not None:
            return None
        known = GroupMetadata(self._settings.group_id, self.generation, self.member_id)
        return leave_request(known, reason)
