"""The authorizer that a broker's configuration asks for."""

from barnabas.broker.config import BrokerConfig
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


def make_authorizer(config: BrokerConfig) -> Authorizer | None:
    """None when none is configured; ConfigError for what is wrong."""
    name = config["authorizer.class.name"].strip()
    if not name:
        return None
    if name not in CLASS_NAMES:
        known = ", ".join(sorted(CLASS_NAMES))
        raise ConfigError(f"authorizer.class.name={name!r}: must be one of: {known}")
    everyone = config["allow.everyone.if.no.acl.found"]
    return Authorizer(super_users=super_users(config), allow_everyone_if_no_acl_found=everyone)


def super_users(config: BrokerConfig) -> list[Principal]:
    """The principals of `super.users`; ConfigError when one is malformed."""
    texts = [text.strip() for text in config["super.users"].split(";")]
    try:
        return [Principal.parse(text) for text in texts if text]
    except ValueError as error:
        raise ConfigError(f"super.users: {error}") from None
