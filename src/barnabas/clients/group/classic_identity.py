"""Who a member is to its classic group: its id and its generation, as the coordinator gave them.

Both change only on an answer to the member's own request, or when it leaves. Pure.
"""

from barnabas.clients.group.classic_assignment import NO_GENERATION
from barnabas.clients.group.classic_protocol import leave_request
from barnabas.clients.group.membership_actions import Removal
from barnabas.clients.group.settings import GroupSettings
from barnabas.model.error_codes import ErrorCode
from barnabas.model.group_metadata import GroupMetadata
from barnabas.wire.message import Message


class ClassicIdentity:
    """Owned by its member. Without a generation the id is known to the coordinator at most."""

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
        """What commits and heartbeats carry; nobody's, while there is no generation."""
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
        """The group goes on without this member.

        Only the generation is wrong after ILLEGAL_GENERATION: under another id the old one would
        be waited for until its session ends.
        """
        if self.generation >= 0:
            self.removal = Removal(self.metadata, reason)
        if reason != ErrorCode.ILLEGAL_GENERATION.name:
            self.member_id = ""
        self.generation = NO_GENERATION

    def forget(self) -> None:
        """The member has left."""
        self.member_id, self.generation = "", NO_GENERATION
        self.removal = None

    def leave_request(self, reason: str) -> Message | None:
        """None for whoever the coordinator does not know, or shall not miss.

        A static member keeps its place until its session ends (KIP-345).
        """
        if not self.member_id or self._settings.instance_id is not None:
            return None
        known = GroupMetadata(self._settings.group_id, self.generation, self.member_id)
        return leave_request(known, reason)
