"""The asyncio admin client: combines the calls of all resource types on one session."""

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
from barnabas.clients.core.client import KafkaClient
from barnabas.clients.core.options import ClientOptions
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
    """Inspects and changes a cluster; must be used on one event loop.

    Calls on many items return `Results`, which holds a value or an error for each item. Calls on
    one item raise its error. Transient errors are retried until the timeout.

    Args:
        config: Kafka's configuration keys (`bootstrap.servers`, `security.protocol`, …).
        options: the same keys as keywords with underscores (`bootstrap_servers=…`).

    Raises:
        ConfigError: a key is unknown or has an invalid value.

    Every call accepts `timeout` in seconds, retries included (default: `default.api.timeout.ms`),
    and raises DeadlineError when it expires, with the last error as its cause.
    """

    def __init__(self, config: Mapping[str, object] | None = None, **options: object) -> None:
        values = ADMIN_KEYS.parse({**(config or {}), **options})
        client = KafkaClient(ClientOptions.from_values(values))
        self._session = AdminSession(client, values["default.api.timeout.ms"] / 1000)

    async def close(self) -> None:
        """Close the connections. Further calls have no effect."""
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
