"""The asyncio admin client: the calls of all nouns on one session."""

from collections.abc import Mapping
from types import TracebackType
from typing import Self

from barnabas.admin.access.acls import AclCalls
from barnabas.admin.access.delegation_tokens import DelegationTokenCalls
from barnabas.admin.access.quotas import QuotaCalls
from barnabas.admin.access.scram_users import ScramUserCalls
from barnabas.admin.cluster import ClusterCalls
from barnabas.admin.configs import ConfigCalls
from barnabas.admin.group_offsets import GroupOffsetCalls
from barnabas.admin.groups import GroupCalls
from barnabas.admin.log_dirs import LogDirCalls
from barnabas.admin.offsets import OffsetCalls
from barnabas.admin.placement import PlacementCalls
from barnabas.admin.records import RecordCalls
from barnabas.admin.session import AdminSession
from barnabas.admin.topics import TopicCalls
from barnabas.admin.transactions import TransactionCalls
from barnabas.clients._core.client import KafkaClient
from barnabas.clients._core.options import ClientOptions
from barnabas.model.config_keys.admin import ADMIN_KEYS


class AsyncAdmin(
    TopicCalls,
    ConfigCalls,
    ClusterCalls,
    OffsetCalls,
    RecordCalls,
    GroupCalls,
    GroupOffsetCalls,
    LogDirCalls,
    TransactionCalls,
    PlacementCalls,
    AclCalls,
    QuotaCalls,
    ScramUserCalls,
    DelegationTokenCalls,
):
    """Looks at a cluster and changes it; to be used on one event loop.

    A call on many items returns `Results`: a value or an error for each. Calls on one item raise.
    `timeout` is in seconds, with retries included; by default `default.api.timeout.ms`.
    """

    def __init__(self, config: Mapping[str, object] | None = None, **options: object) -> None:
        values = ADMIN_KEYS.parse({**(config or {}), **options})
        client = KafkaClient(ClientOptions.from_values(values))
        self._session = AdminSession(client, values["default.api.timeout.ms"] / 1000)

    async def close(self) -> None:
        """Close the connections. Idempotent."""
        await self._session.client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
