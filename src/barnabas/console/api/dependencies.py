"""Parts that routes ask for: the services, the user, and the check of the user's role."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Query, Request

from barnabas.console.api.errors import ApiError
from barnabas.console.composition import Console
from barnabas.console.models.common import ErrorBody, ListQuery
from barnabas.console.security.guard import AUDIT_DETAILS, PRINCIPAL
from barnabas.console.security.principals import Principal, Role

ERRORS: dict[int | str, dict[str, object]] = {
    status: {"model": ErrorBody} for status in (400, 401, 403, 404, 409, 422, 503, 504)
}
"""The error responses that every route may have, for the OpenAPI document."""


def console_of(request: Request) -> Console:
    console = request.app.state.console
    assert isinstance(console, Console)
    return console


def user_of(request: Request) -> Principal:
    principal = request.scope.get(PRINCIPAL)
    if not isinstance(principal, Principal):
        raise ApiError(401, "LOGIN_REQUIRED", "a login is required")
    return principal


def requires(
    role: Role, *, needs_cluster: bool = True
) -> Callable[[Request], Awaitable[Principal]]:
    """Returns a dependency that admits users with this role or a higher one.

    While no broker can be reached, routes that need the cluster answer at once with the reason.

    A route that takes POST and changes nothing (a search) uses READ: it is not audited, and works
    in a read-only console.
    """

    async def check(request: Request) -> Principal:
        principal = user_of(request)
        if role is Role.READ:
            request.scope.get(AUDIT_DETAILS, {})["reads_only"] = True
        elif console_of(request).settings.read_only:
            raise ApiError(403, "READ_ONLY", "this console is read-only")
        if not principal.may(role):
            raise ApiError(
                403,
                "ROLE_REQUIRED",
                f"user {principal.name} has role {principal.role.name.lower()}; "
                f"this needs role {role.name.lower()}",
            )
        if needs_cluster:
            await console_of(request).link.check_reachable()
        return principal

    return check


def audit(request: Request, **details: object) -> None:
    """Adds details to the audit log entry of a request; never pass secrets or record contents."""
    request.scope.get(AUDIT_DETAILS, {}).update(details)


ConsoleDep = Annotated[Console, Depends(console_of)]
UserDep = Annotated[Principal, Depends(user_of)]
ListQueryDep = Annotated[ListQuery, Query()]
Reader = Depends(requires(Role.READ))
LocalReader = Depends(requires(Role.READ, needs_cluster=False))
Operator = Depends(requires(Role.OPERATE))
Administrator = Depends(requires(Role.ADMIN))
