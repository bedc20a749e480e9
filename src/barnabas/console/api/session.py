"""Routes of the session: the user, login and logout, and the features of the cluster."""

from typing import Literal, cast

from fastapi import APIRouter, Request, Response

from barnabas.console.api.routing import ERRORS, ApiError, ClusterRoute, ConsoleDep, Reader, audit
from barnabas.console.models.common import CapabilitiesBody, LoginBody, SessionBody
from barnabas.console.security.guard import PRINCIPAL, cookie_of
from barnabas.console.security.identity import COOKIE, ConsoleUser

router = APIRouter(tags=["session"], responses=ERRORS, route_class=ClusterRoute)


@router.get("/session")
async def describe_session(console: ConsoleDep, request: Request) -> SessionBody:
    """The user of this request. Works without a login."""
    session = console.sessions.find(cookie_of(request.headers))
    principal = request.scope.get(PRINCIPAL)
    known = principal if isinstance(principal, ConsoleUser) else None
    return SessionBody(
        user=None if known is None else known.name,
        role=None if known is None else _role_name(known),
        login=console.settings.login,
        read_only=console.settings.read_only,
        csrf_token=None if session is None else session.csrf_token,
    )


@router.post("/session", status_code=204)
async def log_in(
    console: ConsoleDep, body: LoginBody, request: Request, response: Response
) -> None:
    """Starts a session with the name and password of a SCRAM user of the cluster."""
    audit(request, login=body.user)
    if console.settings.login != "scram":
        raise ApiError(400, "LOGIN_NOT_SUPPORTED", "this console does not take passwords")
    principal = await console.authenticator.password_login(body.user, body.password)
    if principal is None:
        raise ApiError(401, "WRONG_PASSWORD", "the user name or the password is wrong")
    set_session_cookie(response, console.sessions.create(principal), request)


@router.delete("/session", status_code=204)
async def log_out(console: ConsoleDep, request: Request, response: Response) -> None:
    """Ends the session."""
    console.sessions.end(cookie_of(request.headers))
    response.delete_cookie(COOKIE, path="/")


@router.get("/capabilities", dependencies=[Reader])
async def describe_capabilities(console: ConsoleDep) -> CapabilitiesBody:
    """The APIs that the cluster serves; pages hide functions that it does not support."""
    return CapabilitiesBody(
        apis=await console.link.served_apis(),
        bootstrap=console.link.bootstrap,
        zookeeper=console.settings.zookeeper is not None,
        client_metrics=bool(console.settings.metrics_urls),
    )


def set_session_cookie(response: Response, token: str, request: Request) -> None:
    response.set_cookie(
        COOKIE,
        token,
        path="/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )


def _role_name(principal: ConsoleUser) -> Literal["read", "operate", "admin"]:
    return cast('Literal["read", "operate", "admin"]', principal.role.name.lower())
