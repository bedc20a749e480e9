"""The admin client: for asyncio, and blocking on a loop thread.

`AsyncAdmin` combines the calls of all resource types on one session. Every method of `Admin` wraps
the asyncio method of the same name, so both have the same signature and the same documentation.
`Admin` is thread-safe. A client must not be used in a forked child; create a new one.
"""

import functools
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar, Unpack

from barnabas.admin.access import AclCalls, DelegationTokenCalls, QuotaCalls, ScramUserCalls
from barnabas.admin.cluster import ClusterCalls
from barnabas.admin.configs import ConfigCalls
from barnabas.admin.groups import GroupCalls
from barnabas.admin.offsets import GroupOffsetCalls, OffsetCalls, RecordCalls
from barnabas.admin.placement import LogDirCalls, PlacementCalls
from barnabas.admin.session import AdminSession
from barnabas.admin.topics import TopicCalls
from barnabas.admin.transactions import TransactionCalls
from barnabas.clients.core.client import KafkaClient
from barnabas.clients.core.loop_thread import LoopThread
from barnabas.clients.core.options import ClientOptions
from barnabas.clients.metrics.client_metrics import ClientMetrics, MetricsSettings
from barnabas.model.config import merged
from barnabas.model.config_keys.client import ADMIN_KEYS
from barnabas.model.ids import Uuid
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.closing import AsyncClosesOnExit, ClosesOnExit
from barnabas.runtime.metric_types import MetricValues

if TYPE_CHECKING:
    from barnabas.model.config_keys.keywords import AdminKeywords


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
    AsyncClosesOnExit,
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

    def __init__(
        self, config: Mapping[str, object] | None = None, **options: "Unpack[AdminKeywords]"
    ) -> None:
        values = ADMIN_KEYS.parse(merged(config, options))
        shared, settings = ClientOptions.from_values(values), MetricsSettings.from_values(values)
        client_id = shared.connection.client_id
        self._metrics = ClientMetrics("admin-client", client_id, settings, SystemClock())
        client = KafkaClient(shared, self._metrics)
        self._session = AdminSession(client, values["default.api.timeout.ms"] / 1000)

    def metrics(self) -> MetricValues:
        """Returns the current metrics, under Kafka's names (docs/metrics.md). Any thread."""
        return MetricValues(self._metrics.read())

    async def client_instance_id(self, *, timeout: float | None = None) -> Uuid:
        """Returns the id under which this client pushes its metrics (KIP-714).

        Args:
            timeout: seconds to wait for a broker, by default `default.api.timeout.ms`.

        Raises:
            LocalError: enable.metrics.push is false.
            BrokerError: the brokers do not collect metrics of clients.
            DeadlineError: there is no response after `timeout` seconds.
        """
        deadline = self._session.deadline("the client instance id", timeout)
        return await self._session.client.client_instance_id(deadline.left_s)

    async def close(self) -> None:
        """Closes the connections. Further calls have no effect."""
        await self._session.client.close()


P = ParamSpec("P")
T = TypeVar("T")


def _blocking(
    call: Callable[Concatenate[AsyncAdmin, P], Coroutine[object, object, T]],
) -> Callable[Concatenate["Admin", P], T]:
    """Returns a method that runs `call` on the loop thread and waits; Ctrl-C ends the wait."""

    def blocking(admin: "Admin", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return admin.run(lambda core: call(core, *args, **kwargs))

    return functools.update_wrapper(blocking, call)


class Admin(ClosesOnExit):
    """Inspects and changes a cluster.

    >>> with Admin({"bootstrap.servers": "localhost:9092"}) as admin:          # doctest: +SKIP
    ...     admin.create_topic("orders", partitions=3)
    ...     [listing.name for listing in admin.list_topics()]
    ['orders']

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

    def __init__(
        self, config: Mapping[str, object] | None = None, **options: "Unpack[AdminKeywords]"
    ) -> None:
        self._closed = False
        self._core = AsyncAdmin(config, **options)
        self._thread = LoopThread("barnabas-admin")

    def run(self, call: Callable[[AsyncAdmin], Coroutine[object, object, T]]) -> T:
        """Runs a coroutine function with the asyncio admin client on the loop thread and waits.

        >>> admin.run(lambda core: core.describe_cluster())          # doctest: +SKIP
        """
        return self._thread.call(call(self._core))

    def metrics(self) -> MetricValues:
        """Returns the current metrics, under Kafka's names (docs/metrics.md). Any thread."""
        return self._core.metrics()

    def close(self) -> None:
        """Closes the connections and stops the loop thread. Further calls have no effect."""
        if self._closed or self._thread.inherited:
            return
        self._closed = True
        try:
            self._thread.call(self._core.close())
        finally:
            self._thread.close()

    client_instance_id = _blocking(AsyncAdmin.client_instance_id)

    list_topics = _blocking(AsyncAdmin.list_topics)
    describe_topics = _blocking(AsyncAdmin.describe_topics)
    describe_topic = _blocking(AsyncAdmin.describe_topic)
    create_topics = _blocking(AsyncAdmin.create_topics)
    create_topic = _blocking(AsyncAdmin.create_topic)
    delete_topics = _blocking(AsyncAdmin.delete_topics)
    delete_topic = _blocking(AsyncAdmin.delete_topic)
    create_partitions = _blocking(AsyncAdmin.create_partitions)

    describe_configs = _blocking(AsyncAdmin.describe_configs)
    alter_configs = _blocking(AsyncAdmin.alter_configs)
    replace_configs = _blocking(AsyncAdmin.replace_configs)
    list_config_resources = _blocking(AsyncAdmin.list_config_resources)

    describe_cluster = _blocking(AsyncAdmin.describe_cluster)
    describe_api_versions = _blocking(AsyncAdmin.describe_api_versions)
    describe_features = _blocking(AsyncAdmin.describe_features)
    update_features = _blocking(AsyncAdmin.update_features)

    list_offsets = _blocking(AsyncAdmin.list_offsets)
    delete_records = _blocking(AsyncAdmin.delete_records)

    list_groups = _blocking(AsyncAdmin.list_groups)
    describe_groups = _blocking(AsyncAdmin.describe_groups)
    describe_group = _blocking(AsyncAdmin.describe_group)
    delete_groups = _blocking(AsyncAdmin.delete_groups)
    remove_group_members = _blocking(AsyncAdmin.remove_group_members)
    list_group_offsets = _blocking(AsyncAdmin.list_group_offsets)
    alter_group_offsets = _blocking(AsyncAdmin.alter_group_offsets)
    delete_group_offsets = _blocking(AsyncAdmin.delete_group_offsets)

    describe_log_dirs = _blocking(AsyncAdmin.describe_log_dirs)
    alter_replica_log_dirs = _blocking(AsyncAdmin.alter_replica_log_dirs)

    list_transactions = _blocking(AsyncAdmin.list_transactions)
    describe_transactions = _blocking(AsyncAdmin.describe_transactions)
    describe_producers = _blocking(AsyncAdmin.describe_producers)
    abort_transaction = _blocking(AsyncAdmin.abort_transaction)
    fence_producers = _blocking(AsyncAdmin.fence_producers)

    elect_leaders = _blocking(AsyncAdmin.elect_leaders)
    alter_partition_reassignments = _blocking(AsyncAdmin.alter_partition_reassignments)
    list_partition_reassignments = _blocking(AsyncAdmin.list_partition_reassignments)

    describe_acls = _blocking(AsyncAdmin.describe_acls)
    create_acls = _blocking(AsyncAdmin.create_acls)
    delete_acls = _blocking(AsyncAdmin.delete_acls)

    describe_client_quotas = _blocking(AsyncAdmin.describe_client_quotas)
    alter_client_quotas = _blocking(AsyncAdmin.alter_client_quotas)

    describe_scram_users = _blocking(AsyncAdmin.describe_scram_users)
    alter_scram_users = _blocking(AsyncAdmin.alter_scram_users)

    create_delegation_token = _blocking(AsyncAdmin.create_delegation_token)
    renew_delegation_token = _blocking(AsyncAdmin.renew_delegation_token)
    expire_delegation_token = _blocking(AsyncAdmin.expire_delegation_token)
    describe_delegation_tokens = _blocking(AsyncAdmin.describe_delegation_tokens)
