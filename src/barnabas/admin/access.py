"""ACLs, credentials (SCRAM users, delegation tokens) and quotas of users, client ids and addresses.

The value types of ACLs are those of `barnabas.security.acl`. The password of a SCRAM user never
leaves this process; the request contains the salted password (KIP-554). Delegation tokens (KIP-48)
are short-lived credentials that an authenticated user creates; principals are written as
`User:alice`. Brokers need `delegation.token.secret.key`, and accept these calls only on
authenticated connections.
"""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from barnabas.admin.access_types import (
    ANY,
    DEFAULT,
    ENTITY_TYPES,
    DelegationToken,
    QuotaEntity,
    ScramCredentialInfo,
    ScramDeletion,
    ScramMechanism,
    ScramPassword,
)
from barnabas.admin.results import Results, error_of, raise_error
from barnabas.admin.session import AdminCalls
from barnabas.model.errors import BarnabasError, LocalError
from barnabas.security.acl import (
    AccessEntry,
    AclBinding,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from barnabas.security.scram_keys import SCRAM_SHA_256, SCRAM_SHA_512, check_iterations
from barnabas.wire.messages import alter_client_quotas as altering
from barnabas.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from barnabas.wire.messages.create_acls import AclCreation, CreateAclsRequest
from barnabas.wire.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from barnabas.wire.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsRequest,
)
from barnabas.wire.messages.describe_acls import DescribeAclsRequest
from barnabas.wire.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
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
BROKERS_CHOICE = -1


class AclCalls(AdminCalls):
    """Calls on ACLs."""

    async def describe_acls(
        self, chosen: AclFilter | None = None, *, timeout: float | None = None
    ) -> list[AclBinding]:
        """Returns the ACLs that match a filter (default: all)."""
        deadline = self._deadline("describe ACLs", timeout)
        request = DescribeAclsRequest(**_filter_fields(chosen or AclFilter()))
        response = await self._session.to_any(request, deadline)
        raise_error(response)
        return [
            AclBinding(
                _pattern(resource),
                AccessEntry(
                    item.principal,
                    item.host,
                    Operation(item.operation),
                    Permission(item.permission_type),
                ),
            )
            for resource in response.resources
            for item in resource.acls
        ]

    async def create_acls(
        self, bindings: Iterable[AclBinding], *, timeout: float | None = None
    ) -> Results[AclBinding, None]:
        """Adds ACLs; existing ACLs stay unchanged.

        >>> orders = ResourcePattern(ResourceType.TOPIC, "orders")    # doctest: +SKIP
        >>> reads = AccessEntry(                                     # doctest: +SKIP
        ...     "User:alice", "*", Operation.READ, Permission.ALLOW
        ... )
        >>> admin.create_acls([AclBinding(orders, reads)]).check()   # doctest: +SKIP
        """
        deadline = self._deadline("create ACLs", timeout)
        wanted = list(dict.fromkeys(bindings))
        request = CreateAclsRequest(creations=[_creation(binding) for binding in wanted])
        response = await self._session.to_controller(request, deadline)
        outcomes = zip(wanted, response.results, strict=True)
        return Results({binding: error_of(item) for binding, item in outcomes})

    async def delete_acls(
        self, filters: Iterable[AclFilter], *, timeout: float | None = None
    ) -> Results[AclFilter, tuple[AclBinding, ...]]:
        """Deletes the ACLs that match each filter; returns the deleted ACLs."""
        deadline = self._deadline("delete ACLs", timeout)
        chosen = list(dict.fromkeys(filters))
        request = DeleteAclsRequest(
            filters=[DeleteAclsFilter(**_filter_fields(each)) for each in chosen]
        )
        response = await self._session.to_controller(request, deadline)
        outcomes = zip(chosen, response.filter_results, strict=True)
        return Results({each: error_of(item) or _deleted(item) for each, item in outcomes})


def _filter_fields(chosen: AclFilter) -> dict[str, Any]:
    """Returns the fields that DescribeAcls and the filters of DeleteAcls share."""
    return {
        "resource_type_filter": chosen.resource_type.value,
        "resource_name_filter": chosen.name,
        "pattern_type_filter": chosen.pattern.value,
        "principal_filter": chosen.principal,
        "host_filter": chosen.host,
        "operation": chosen.operation.value,
        "permission_type": chosen.permission.value,
    }


def _creation(binding: AclBinding) -> AclCreation:
    return AclCreation(
        resource_type=binding.pattern.type.value,
        resource_name=binding.pattern.name,
        resource_pattern_type=binding.pattern.pattern.value,
        principal=binding.entry.principal,
        host=binding.entry.host,
        operation=binding.entry.operation.value,
        permission_type=binding.entry.permission.value,
    )


def _pattern(item: Any) -> ResourcePattern:
    return ResourcePattern(
        ResourceType(item.resource_type), item.resource_name, PatternType(item.pattern_type)
    )


def _deleted(result: DeleteAclsFilterResult) -> tuple[AclBinding, ...] | BarnabasError:
    bindings = []
    for item in result.matching_acls:
        error = error_of(item)
        if error is not None:
            return error
        entry = AccessEntry(
            item.principal, item.host, Operation(item.operation), Permission(item.permission_type)
        )
        bindings.append(AclBinding(_pattern(item), entry))
    return tuple(bindings)


# --- Credentials ----------------------------------------------------------------------------------


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
        """Sets passwords and deletes credentials.

        >>> admin.alter_scram_users([ScramPassword("alice", "secret")])  # doctest: +SKIP
        """
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
        """Creates a token.

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
        """Extends a token by `period` seconds; returns the new expiry time in milliseconds."""
        deadline = self._deadline("renew a delegation token", timeout)
        request = RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=_milliseconds(period))
        response = await self._session.to_controller(request, deadline)
        return int(response.expiry_timestamp_ms)

    async def expire_delegation_token(
        self, hmac: bytes, period: float | None = None, *, timeout: float | None = None
    ) -> int:
        """Expires a token in `period` seconds (default: now); returns the time in milliseconds."""
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


# --- Quotas ---------------------------------------------------------------------------------------


_EXACT, _DEFAULT, _SPECIFIED = 0, 1, 2


class QuotaCalls(AdminCalls):
    """Calls on quotas."""

    async def describe_client_quotas(
        self,
        matching: QuotaEntity | None = None,
        *,
        strict: bool = False,
        timeout: float | None = None,
    ) -> dict[QuotaEntity, dict[str, float]]:
        """Returns quotas whose entity matches; `strict` excludes entities with further parts."""
        deadline = self._deadline("describe client quotas", timeout)
        chosen = matching or QuotaEntity()
        request = DescribeClientQuotasRequest(
            components=[_component(kind, name) for kind, name in chosen.parts()], strict=strict
        )
        response = await self._session.to_any(request, deadline)
        raise_error(response)
        return {
            _entity(entry): {item.key: item.value for item in entry.values}
            for entry in response.entries or ()
        }

    async def alter_client_quotas(
        self,
        changes: Mapping[QuotaEntity, Mapping[str, float | None]],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[QuotaEntity, None]:
        """Sets quotas of users, client ids or addresses.

        Args:
            changes: for each entity, values by quota name (`producer_byte_rate`,
                `consumer_byte_rate`, `request_percentage`, …); None removes a quota.
            validate_only: check the request without changing quotas.

        >>> admin.alter_client_quotas(                               # doctest: +SKIP
        ...     {QuotaEntity(user="alice"): {"producer_byte_rate": 1_000_000}}
        ... ).check()
        """
        deadline = self._deadline("alter client quotas", timeout)
        request = altering.AlterClientQuotasRequest(
            entries=[_entry(entity, values) for entity, values in changes.items()],
            validate_only=validate_only,
        )
        response = await self._session.to_controller(request, deadline)
        return Results({_entity(item): error_of(item) for item in response.entries})


def _component(kind: str, name: str) -> ComponentData:
    if name == ANY:
        return ComponentData(entity_type=kind, match_type=_SPECIFIED, match=None)
    if name == DEFAULT:
        return ComponentData(entity_type=kind, match_type=_DEFAULT, match=None)
    return ComponentData(entity_type=kind, match_type=_EXACT, match=name)


def _entity(item: Any) -> QuotaEntity:
    names = {
        part.entity_type: DEFAULT if part.entity_name is None else part.entity_name
        for part in item.entity
    }
    return QuotaEntity(**{attribute: names.get(kind) for attribute, kind in ENTITY_TYPES})


def _entry(entity: QuotaEntity, values: Mapping[str, float | None]) -> altering.EntryData:
    return altering.EntryData(
        entity=[
            altering.EntityData(entity_type=kind, entity_name=None if name == DEFAULT else name)
            for kind, name in entity.parts()
        ],
        ops=[
            altering.OpData(key=key, value=value or 0.0, remove=value is None)
            for key, value in values.items()
        ],
    )
