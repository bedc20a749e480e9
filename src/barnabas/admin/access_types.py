"""Parameter and result types of calls on quotas, SCRAM users and delegation tokens."""

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field

DEFAULT = "<default>"
"""Used as name: the default for entities without their own quota."""
ANY = "<any>"
"""Used as name in a filter: every name, the default included."""
ENTITY_TYPES = (("user", "user"), ("client_id", "client-id"), ("ip", "ip"))
"""Attributes of `QuotaEntity` and Kafka's names of the entity types."""


@dataclass(frozen=True, slots=True)
class QuotaEntity:
    """The entity of a quota; parts that are None are not part of it."""

    user: str | None = None
    client_id: str | None = None
    ip: str | None = None

    def parts(self) -> Iterator[tuple[str, str]]:
        """Yields Kafka's entity type and the name of each part."""
        for attribute, kind in ENTITY_TYPES:
            name = getattr(self, attribute)
            if name is not None:
                yield kind, name

    def __str__(self) -> str:
        return ", ".join(f"{kind} {name}" for kind, name in self.parts())


class ScramMechanism(enum.IntEnum):
    """The SCRAM mechanisms, with their numbers in the protocol."""

    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2


@dataclass(frozen=True, slots=True)
class ScramCredentialInfo:
    """Mechanism and iterations of a credential; the broker never returns the password."""

    mechanism: ScramMechanism
    iterations: int


@dataclass(frozen=True, slots=True)
class ScramPassword:
    """A password to set; the salt is random unless given."""

    user: str
    password: str = field(repr=False)
    mechanism: ScramMechanism = ScramMechanism.SCRAM_SHA_512
    iterations: int = 8192
    salt: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ScramDeletion:
    """A credential to delete."""

    user: str
    mechanism: ScramMechanism


@dataclass(frozen=True, slots=True)
class DelegationToken:
    """A token; `hmac` is the secret and is hidden in `repr`. Times are in milliseconds."""

    token_id: str
    owner: str
    requester: str
    issued_ms: int
    expires_ms: int
    ends_ms: int
    hmac: bytes = field(repr=False)
    renewers: tuple[str, ...] = ()
