"""Type of authorization rules, and rules that need one right for the whole request."""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, TypeVar

from barnabas.broker.access.access import Access
from barnabas.broker.handler import Handle, RequestContext, Result
from barnabas.security.acl import Operation
from barnabas.wire.message import Message

AuthorizationRule: TypeAlias = Callable[[Access, RequestContext, Any, Handle], Result]
"""`serve` is the handler; a rule that rejects the whole request does not call it."""
Refused: TypeAlias = Callable[[RequestContext, Any], Message]
"""Returns the response to a request that is rejected as a whole."""


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


def anybody(access: Access, ctx: RequestContext, request: Message, serve: Handle) -> Result:
    """For APIs that need no right, and for handlers that authorize themselves."""
    return serve(ctx, request)


def needs_cluster(refused: Refused, *operations: Operation) -> AuthorizationRule:
    """Returns a rule that needs one of these operations on the cluster."""

    def rule(access: Access, ctx: RequestContext, request: Message, serve: Handle) -> Result:
        if any(access.cluster(operation) for operation in operations):
            return serve(ctx, request)
        return refused(ctx, request)

    return rule


def needs_group(refused: Refused, operation: Operation) -> AuthorizationRule:
    """Returns a rule that needs this operation on the group of the request."""

    def rule(access: Access, ctx: RequestContext, request: Any, serve: Handle) -> Result:
        if access.group(operation, request.group_id):
            return serve(ctx, request)
        return refused(ctx, request)

    return rule
