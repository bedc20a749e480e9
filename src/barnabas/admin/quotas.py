"""Quotas of users, client ids and addresses: describe and alter."""

from collections.abc import Mapping
from typing import Any

from barnabas.admin.access_types import ANY, DEFAULT, ENTITY_TYPES, QuotaEntity
from barnabas.admin.results import Results, error_of, raise_error
from barnabas.admin.session import AdminCalls
from barnabas.wire.messages import alter_client_quotas as altering
from barnabas.wire.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
)

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
        """Set quotas by name (`producer_byte_rate`, …); None removes a quota."""
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
