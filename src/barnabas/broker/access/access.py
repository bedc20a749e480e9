"""Permissions of the sender of one request: configured authorizers, and rules that use them.

All authorizers decide by the same ACLs. A listener can have its own super users, its own default
for resources without ACLs, or no authorizer (`listener.name.<name>.authorizer.class.name=`).

Rules of single APIs are in `authorization`; here are those that need one right for the whole
request.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeAlias, TypeVar

from barnabas.broker.config import BrokerConfig, listener_key_name
from barnabas.broker.handler import Denial, Handle, RequestContext, Result
from barnabas.model.config import ConfigLookup
from barnabas.model.errors import ConfigError
from barnabas.security.acl import CLUSTER, SUPPORTED_OPERATIONS, Operation, Resource, ResourceType
from barnabas.security.authorizer import Authorizer
from barnabas.security.principal import Principal
from barnabas.wire.message import Message

_logger = logging.getLogger("barnabas.authorizer")
CLASS_NAMES = frozenset(
    {
        "kafka.security.authorizer.AclAuthorizer",
        "kafka.security.auth.SimpleAclAuthorizer",
        "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    }
)
"""Kafka's three, which decide alike; the rules lie in the metadata tree for each of them."""


_KEYS = ("authorizer.class.name", "super.users", "allow.everyone.if.no.acl.found")


class Access:
    """Rights of a principal; created per request."""

    __slots__ = ("_authorizer", "_denials", "_host", "_principal")

    def __init__(
        self,
        authorizer: Authorizer,
        principal: Principal,
        host: str,
        denials: list[Denial] | None = None,
    ) -> None:
        """Denied operations are added to `denials`, for the audit log."""
        self._authorizer = authorizer
        self._denials = denials
        self._principal = principal
        self._host = host

    @classmethod
    def of(cls, authorizer: Authorizer, ctx: RequestContext) -> "Access":
        """Returns the permissions of the sender of a request."""
        return cls(authorizer, ctx.principal, ctx.connection.stream.peer[0], ctx.denials)

    def may(self, operation: Operation, resource: Resource) -> bool:
        allowed = self._authorizer.authorize(self._principal, self._host, operation, resource)
        if not allowed:
            line = "denied: principal %s, host %s, operation %s, resource %s %r"
            words = (operation.label, resource.type.label, resource.name)
            _logger.debug(line, self._principal, self._host, *words)
            if self._denials is not None:
                self._denials.append(words)
        return allowed

    def cluster(self, operation: Operation) -> bool:
        return self.may(operation, CLUSTER)

    def topic(self, operation: Operation, name: str) -> bool:
        return self.may(operation, Resource(ResourceType.TOPIC, name))

    def group(self, operation: Operation, group_id: str) -> bool:
        return self.may(operation, Resource(ResourceType.GROUP, group_id))

    def transactional_id(self, operation: Operation, name: str) -> bool:
        return self.may(operation, Resource(ResourceType.TRANSACTIONAL_ID, name))

    def some_topic(self, operation: Operation) -> bool:
        """Whether the operation is allowed on at least one topic."""
        return self._authorizer.authorize_any(
            self._principal, self._host, operation, ResourceType.TOPIC
        )

    def topics(self, operation: Operation, names: Iterable[str]) -> frozenset[str]:
        """Returns the topics on which the operation is allowed; decides once per name."""
        return frozenset(name for name in set(names) if self.topic(operation, name))

    def operations(self, resource: Resource) -> int:
        """Returns the allowed operations on a resource as the bit set of responses."""
        bits = 0
        for operation in SUPPORTED_OPERATIONS[resource.type]:
            if self.may(operation, resource):
                bits |= 1 << operation.value
        return bits


# --- fetch ---------------------------------------------------------------------------------------


def fetch_permission(
    ctx: RequestContext, authorizer: Authorizer, *, follower: bool
) -> Callable[[str], bool]:
    """Returns a function that decides whether a topic may be read.

    Called at every read: a fetch session keeps partitions of earlier requests, and ACLs change. A
    follower needs the permission of a broker (CVE-2018-1288).
    """
    access = Access.of(authorizer, ctx)
    if not follower:
        return lambda topic: access.topic(Operation.READ, topic)
    allowed = access.cluster(Operation.CLUSTER_ACTION)
    return lambda topic: allowed


# --- Rules ----------------------------------------------------------------------------------------


AuthorizationRule: TypeAlias = Callable[[Access, RequestContext, Any, Handle], Result]
"""`serve` is the handler; a rule that rejects the whole request does not call it."""
DeniedResponse: TypeAlias = Callable[[RequestContext, Any], Message]
"""Returns the response to a request that is denied as a whole."""


ItemT = TypeVar("ItemT")


def split(
    items: Iterable[ItemT], allowed: Callable[[ItemT], bool]
) -> tuple[list[ItemT], list[ItemT]]:
    """Returns the allowed and the denied items."""
    kept: list[ItemT] = []
    denied: list[ItemT] = []
    for item in items:
        (kept if allowed(item) else denied).append(item)
    return kept, denied


def no_authorization(
    access: Access, ctx: RequestContext, request: Message, serve: Handle
) -> Result:
    """For APIs that need no permission, and for handlers that authorize themselves."""
    return serve(ctx, request)


def needs_cluster(denied: DeniedResponse, *operations: Operation) -> AuthorizationRule:
    """Returns a rule that needs one of these operations on the cluster."""

    def rule(access: Access, ctx: RequestContext, request: Message, serve: Handle) -> Result:
        if any(access.cluster(operation) for operation in operations):
            return serve(ctx, request)
        return denied(ctx, request)

    return rule


def needs_group(denied: DeniedResponse, operation: Operation) -> AuthorizationRule:
    """Returns a rule that needs this operation on the group of the request."""

    def rule(access: Access, ctx: RequestContext, request: Any, serve: Handle) -> Result:
        if access.group(operation, request.group_id):
            return serve(ctx, request)
        return denied(ctx, request)

    return rule


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
