"""Delegation tokens (KIP-48): short-lived credentials that an authenticated user creates.

Principals go as everywhere in text, `User:alice`. The broker of this project does not serve them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from barnabas.admin.calls import AdminCalls
from barnabas.admin.errors import raise_error
from barnabas.wire.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from barnabas.wire.messages.describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from barnabas.wire.messages.expire_delegation_token import ExpireDelegationTokenRequest
from barnabas.wire.messages.renew_delegation_token import RenewDelegationTokenRequest

BROKERS_CHOICE = -1


@dataclass(frozen=True, slots=True)
class DelegationToken:
    """A token; `hmac` is the secret and is hidden in `repr`. Times are in milliseconds."""

    token_id: str
    owner: str
    requester: str
    issued_ms: int
    expires_ms: int
    ends_ms: int
    hmac: bytes = field(repr=False)
    renewers: tuple[str, ...] = ()


class DelegationTokenCalls(AdminCalls):
    """Calls on delegation tokens."""

    async def create_delegation_token(
        self,
        *,
        owner: str | None = None,
        renewers: Iterable[str] = (),
        max_lifetime: float | None = None,
        timeout: float | None = None,
    ) -> DelegationToken:
        """Create a token.

        Args:
            owner: the principal (`User:alice`) that owns the token (default: the caller).
            renewers: principals that may renew it.
            max_lifetime: limit of its lifetime in seconds, renewals included.
        """
        deadline = self._deadline("create a delegation token", timeout)
        allowed = tuple(renewers)
        kind, name = (None, None) if owner is None else _split(owner)
        request = CreateDelegationTokenRequest(
            owner_principal_type=kind,
            owner_principal_name=name,
            renewers=[CreatableRenewers(*_split(renewer)) for renewer in allowed],
            max_lifetime_ms=_milliseconds(max_lifetime),
        )
        made = await self._session.to_controller(request, deadline)
        return DelegationToken(
            made.token_id,
            f"{made.principal_type}:{made.principal_name}",
            f"{made.token_requester_principal_type}:{made.token_requester_principal_name}",
            made.issue_timestamp_ms,
            made.expiry_timestamp_ms,
            made.max_timestamp_ms,
            made.hmac,
            allowed,
        )

    async def renew_delegation_token(
        self, hmac: bytes, period: float | None = None, *, timeout: float | None = None
    ) -> int:
        """Extend a token by `period` seconds; returns the new expiry time in milliseconds."""
        deadline = self._deadline("renew a delegation token", timeout)
        request = RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=_milliseconds(period))
        response = await self._session.to_controller(request, deadline)
        return int(response.expiry_timestamp_ms)

    async def expire_delegation_token(
        self, hmac: bytes, period: float | None = None, *, timeout: float | None = None
    ) -> int:
        """Expire a token in `period` seconds (default: now); returns the time in milliseconds."""
        deadline = self._deadline("expire a delegation token", timeout)
        request = ExpireDelegationTokenRequest(
            hmac=hmac, expiry_time_period_ms=_milliseconds(period)
        )
        response = await self._session.to_controller(request, deadline)
        return int(response.expiry_timestamp_ms)

    async def describe_delegation_tokens(
        self, owners: Iterable[str] | None = None, *, timeout: float | None = None
    ) -> list[DelegationToken]:
        """Returns the visible tokens of `owners` (default: all owners)."""
        deadline = self._deadline("describe delegation tokens", timeout)
        chosen = None
        if owners is not None:
            chosen = [DescribeDelegationTokenOwner(*_split(owner)) for owner in owners]
        request = DescribeDelegationTokenRequest(owners=chosen)
        response = await self._session.to_any(request, deadline)
        raise_error(response)
        return [_described(token) for token in response.tokens]


def _described(token: Any) -> DelegationToken:
    return DelegationToken(
        token.token_id,
        f"{token.principal_type}:{token.principal_name}",
        f"{token.token_requester_principal_type}:{token.token_requester_principal_name}",
        token.issue_timestamp,
        token.expiry_timestamp,
        token.max_timestamp,
        token.hmac,
        tuple(f"{each.principal_type}:{each.principal_name}" for each in token.renewers),
    )


def _split(principal: str) -> tuple[str, str]:
    kind, _, name = principal.partition(":")
    return kind, name


def _milliseconds(seconds: float | None) -> int:
    return BROKERS_CHOICE if seconds is None else int(seconds * 1000)
