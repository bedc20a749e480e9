"""What the sender of one request may do, in the words of the guards."""

import logging
from collections.abc import Iterable

from barnabas.security.acl import (
    CLUSTER,
    SUPPORTED_OPERATIONS,
    Operation,
    Resource,
    ResourceType,
)
from barnabas.security.authorizer import Authorizer
from barnabas.security.principal import Principal

_logger = logging.getLogger("barnabas.authorizer")


class Access:
    """One sender's rights; made per request."""

    __slots__ = ("_authorizer", "_host", "_principal")

    def __init__(self, authorizer: Authorizer, principal: Principal, host: str) -> None:
        self._authorizer = authorizer
        self._principal = principal
        self._host = host

    def may(self, operation: Operation, resource: Resource) -> bool:
        allowed = self._authorizer.authorize(self._principal, self._host, operation, resource)
        if not allowed:
            line = "%s from %s may not %s %s %r"
            words = (operation.label, resource.type.label, resource.name)
            _logger.debug(line, self._principal, self._host, *words)
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
        """Whether there is a topic it may do this with."""
        return self._authorizer.authorize_any(
            self._principal, self._host, operation, ResourceType.TOPIC
        )

    def topics(self, operation: Operation, names: Iterable[str]) -> frozenset[str]:
        """Those of the names it may do this with; each is judged once."""
        return frozenset(name for name in set(names) if self.topic(operation, name))

    def operations(self, resource: Resource) -> int:
        """Everything it may do with a resource, as the bit set that responses carry."""
        bits = 0
        for operation in SUPPORTED_OPERATIONS[resource.type]:
            if self.may(operation, resource):
                bits |= 1 << operation.value
        return bits
