"""The shape of a guard, and the simple ones: one right, one answer without it."""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, TypeVar

from barnabas.broker.access.access import Access
from barnabas.broker.handler import RequestContext, Result
from barnabas.security.acl import Operation
from barnabas.wire.message import Message

Serve: TypeAlias = Callable[[RequestContext, Any], Result]
Guard: TypeAlias = Callable[[Access, RequestContext, Any, Serve], Result]
"""`serve` is the handler; a guard that refuses everything does not call it."""
Refused: TypeAlias = Callable[[RequestContext, Any], Message]
"""The response to a request none of which may be served."""


ItemT = TypeVar("ItemT")


def split(
    items: Iterable[ItemT], allowed: Callable[[ItemT], bool]
) -> tuple[list[ItemT], list[ItemT]]:
    """The items that pass, and those that do not."""
    kept: list[ItemT] = []
    denied: list[ItemT] = []
    for item in items:
        (kept if allowed(item) else denied).append(item)
    return kept, denied


def anybody(access: Access, ctx: RequestContext, request: Any, serve: Serve) -> Result:
    """For what everybody may ask, and for handlers that see to it themselves."""
    return serve(ctx, request)


def needs_cluster(refused: Refused, *operations: Operation) -> Guard:
    """One of these operations on the cluster."""

    def guard(access: Access, ctx: RequestContext, request: Any, serve: Serve) -> Result:
        if any(access.cluster(operation) for operation in operations):
            return serve(ctx, request)
        return refused(ctx, request)

    return guard


def needs_group(refused: Refused, operation: Operation) -> Guard:
    """This operation on the request's group."""

    def guard(access: Access, ctx: RequestContext, request: Any, serve: Serve) -> Result:
        if access.group(operation, request.group_id):
            return serve(ctx, request)
        return refused(ctx, request)

    return guard
