"""Roles, and the identity of a user."""

import enum
from dataclasses import dataclass

from barnabas.model.errors import ConfigError


class Role(enum.IntEnum):
    """READ looks, OPERATE works with records, groups and topics, ADMIN changes the cluster."""

    READ = 1
    OPERATE = 2
    ADMIN = 3

    @classmethod
    def of(cls, text: str) -> "Role":
        """Returns the role of a name in any case; ConfigError for an unknown one."""
        try:
            return cls[text.upper()]
        except KeyError:
            names = ", ".join(role.name.lower() for role in cls)
            raise ConfigError(f"role {text!r} is unknown; roles are {names}") from None


@dataclass(frozen=True, slots=True)
class Principal:
    """A user of the console with the role that applies to this request."""

    name: str
    role: Role

    def may(self, role: Role) -> bool:
        return self.role >= role
