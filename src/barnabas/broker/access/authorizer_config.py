"""The configured authorizers: one for the broker, others for listeners with their own settings.

All authorizers decide by the same ACLs. A listener can have its own super users, its own default
for resources without ACLs, or no authorizer (`listener.name.<name>.authorizer.class.name=`).
"""

from collections.abc import Mapping
from functools import partial

from barnabas.broker.config import BrokerConfig, listener_key_name
from barnabas.model.config import ConfigLookup
from barnabas.model.errors import ConfigError
from barnabas.security.authorizer import Authorizer
from barnabas.security.principal import Principal

CLASS_NAMES = frozenset(
    {
        "kafka.security.authorizer.AclAuthorizer",
        "kafka.security.auth.SimpleAclAuthorizer",
        "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    }
)
"""Kafka's three, which decide alike; the rules lie in the metadata tree for each of them."""


_KEYS = ("authorizer.class.name", "super.users", "allow.everyone.if.no.acl.found")


class Authorizers:
    """The authorizer of each listener; owned by the broker's loop."""

    def __init__(
        self, default: Authorizer | None, own: Mapping[str, Authorizer | None] | None = None
    ) -> None:
        self._default = default
        self._own = own or {}

    @classmethod
    def from_config(cls, config: BrokerConfig) -> "Authorizers":
        """Raises ConfigError for invalid settings."""
        own = {
            endpoint.listener: make_authorizer(partial(config.listener_value, endpoint.listener))
            for endpoint in config.listeners
            if any(listener_key_name(endpoint.listener, key) in config.given for key in _KEYS)
        }
        return cls(make_authorizer(config.__getitem__), own)

    def of(self, listener: str) -> Authorizer | None:
        """Returns the authorizer of a listener; None: every operation is allowed."""
        return self._own.get(listener, self._default)

    @property
    def all(self) -> list[Authorizer]:
        """Returns every authorizer, for the store of their ACLs."""
        found = [self._default, *self._own.values()]
        return [authorizer for authorizer in found if authorizer is not None]


def make_authorizer(value: ConfigLookup) -> Authorizer | None:
    """Returns the configured authorizer, or None; raises ConfigError for invalid settings."""
    name = (value("authorizer.class.name") or "").strip()
    if not name:
        return None
    if name not in CLASS_NAMES:
        known = ", ".join(sorted(CLASS_NAMES))
        raise ConfigError(f"authorizer.class.name={name!r}: must be one of: {known}")
    everyone = value("allow.everyone.if.no.acl.found")
    return Authorizer(
        super_users=super_users(value("super.users")), allow_everyone_if_no_acl_found=everyone
    )


def super_users(users: str) -> list[Principal]:
    """Returns the principals of `super.users`; raises ConfigError if one is malformed."""
    texts = [text.strip() for text in users.split(";")]
    try:
        return [Principal.parse(text) for text in texts if text]
    except ValueError as error:
        raise ConfigError(f"super.users: {error}") from None
