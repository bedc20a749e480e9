"""Credentials: SCRAM users and delegation tokens.

The password of a SCRAM user never leaves this process; the request contains the salted password
(KIP-554). Delegation tokens (KIP-48) are short-lived credentials that an authenticated user
creates; principals are written as `User:alice`. Brokers need `delegation.token.secret.key`, and
accept these calls only on authenticated connections.
"""

import os
from collections.abc import Iterable
from typing import Any

from barnabas.admin.access_types import (
    DelegationToken,
    ScramCredentialInfo,
    ScramDeletion,
    ScramMechanism,
    ScramPassword,
)
from barnabas.admin.results import Results, error_of, raise_error
from barnabas.admin.session import AdminCalls
from barnabas.model.errors import LocalError
from barnabas.security.scram_keys import SCRAM_SHA_256, SCRAM_SHA_512, check_iterations
from barnabas.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from barnabas.wire.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from barnabas.wire.messages.describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from barnabas.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from barnabas.wire.messages.expire_delegation_token import ExpireDelegationTokenRequest
from barnabas.wire.messages.renew_delegation_token import RenewDelegationTokenRequest

SALT_BYTES = 24
_HASHES = {
    ScramMechanism.SCRAM_SHA_256: SCRAM_SHA_256,
    ScramMechanism.SCRAM_SHA_512: SCRAM_SHA_512,
}


class ScramUserCalls(AdminCalls):
    """Calls on SCRAM users."""

    async def describe_scram_users(
        self, users: Iterable[str] | None = None, *, timeout: float | None = None
    ) -> Results[str, tuple[ScramCredentialInfo, ...]]:
        """Returns mechanism and iterations of users' credentials (default: all), never a secret."""
        deadline = self._deadline("describe SCRAM users", timeout)
        names = None if users is None else [UserName(name=user) for user in users]
        request = DescribeUserScramCredentialsRequest(users=names)
        response = await self._session.to_any(request, deadline)
        raise_error(response)
        return Results(
            {
                item.user: error_of(item)
                or tuple(
                    ScramCredentialInfo(ScramMechanism(info.mechanism), info.iterations)
                    for info in item.credential_infos
                )
                for item in response.results
            }
        )

    async def alter_scram_users(
        self,
        passwords: Iterable[ScramPassword] = (),
        *,
        deletions: Iterable[ScramDeletion] = (),
        timeout: float | None = None,
    ) -> Results[str, None]:
        """Set passwords and delete credentials."""
        deadline = self._deadline("alter SCRAM users", timeout)
        request = AlterUserScramCredentialsRequest(
            deletions=[
                ScramCredentialDeletion(name=each.user, mechanism=int(each.mechanism))
                for each in deletions
            ],
            upsertions=[_upsertion(each) for each in passwords],
        )
        response = await self._session.to_controller(request, deadline)
        return Results({item.user: error_of(item) for item in response.results})


def _upsertion(new: ScramPassword) -> ScramCredentialUpsertion:
    try:
        check_iterations(new.iterations)
        salt = os.urandom(SALT_BYTES) if new.salt is None else new.salt
        salted = _HASHES[new.mechanism].salted_password(new.password, salt, new.iterations)
    except ValueError as error:
        raise LocalError(f"user {new.user!r}: {error}") from None
    return ScramCredentialUpsertion(
        name=new.user,
        mechanism=int(new.mechanism),
        iterations=new.iterations,
        salt=salt,
        salted_password=salted,
    )


BROKERS_CHOICE = -1


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
