"""One member of a classic group."""

from dataclasses import dataclass

from barnabas.coordination.outcome import Token
from barnabas.groups.requests import Protocol


@dataclass(slots=True)
class ClassicGroupMember:
    """Changed by its group only (`ClassicGroup` counts protocols and parked joins).

    `is_new` is true until the first generation the member takes part in: a new member does not
    know its id yet, so it cannot heartbeat, and its session timer may end its parked join.
    """

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    protocols: tuple[Protocol, ...]
    assignment: bytes = b""
    is_new: bool = False
    join_token: Token | None = None
    sync_token: Token | None = None

    @property
    def is_static(self) -> bool:
        return self.group_instance_id is not None

    @property
    def is_waiting(self) -> bool:
        """Whether the member has a parked request, so its session must not expire."""
        return not self.is_new and (self.join_token is not None or self.sync_token is not None)

    def metadata(self, protocol_name: str | None) -> bytes:
        """Returns the subscription for this protocol, empty when the member does not support it."""
        for name, metadata in self.protocols:
            if name == protocol_name:
                return metadata
        return b""

    def vote(self, candidates: frozenset[str]) -> str | None:
        """Returns the most preferred protocol among the candidates."""
        return next((name for name, _ in self.protocols if name in candidates), None)
