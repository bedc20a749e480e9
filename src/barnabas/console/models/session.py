"""Value types of the session: the user, and what this console and its cluster can do."""

from typing import Literal

from pydantic import Field

from barnabas.console.models.common import Model


class LoginBody(Model):
    user: str = Field(min_length=1, max_length=200)
    password: str = Field(max_length=1000)


class SessionBody(Model):
    """`user` is None without a login. `csrf_token` belongs into the header X-CSRF-Token."""

    user: str | None
    role: Literal["read", "operate", "admin"] | None
    login: Literal["none", "scram", "proxy", "oidc"]
    read_only: bool
    csrf_token: str | None = None


class CapabilitiesBody(Model):
    """The APIs that the cluster serves, with their highest version."""

    apis: dict[str, int]
    bootstrap: str
    zookeeper: bool = False
    client_metrics: bool = False
