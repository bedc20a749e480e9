"""The cluster: log directories, reassignments, elections, quotas, versions, configuration, tree,
ACLs and SCRAM users.

The default of a configuration key is the last value that it falls back to, so it includes the
broker's own settings. Values of sensitive keys are never returned, not even those that a broker
would send; passwords and salts are never read. The ZooKeeper tree is read-only and without secrets.

Open pages receive a stream with the reachability of the cluster. They share one check:
`ClusterLink` sends one request for all pages, and only while a page or a request needs the result.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from datetime import datetime

from barnabas import zk
from barnabas.admin import (
    AccessEntry,
    AclBinding,
    AclFilter,
    AsyncAdmin,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    ElectionType,
    Operation,
    PatternType,
    Permission,
    QuotaEntity,
    Reassignment,
    ResourcePattern,
    ResourceType,
)
from barnabas.console.cluster_link import ClusterLink
from barnabas.console.models.cluster import (
    AccessBody,
    AclItem,
    ApiVersionItem,
    ConnectionState,
    ElectionBody,
    ElectionResult,
    FeatureItem,
    LogDirItem,
    QuotaItem,
    ReassignmentBody,
    ReassignmentItem,
    TreeNode,
    VersionsBody,
)
from barnabas.console.models.topics import ConfigChanges, ConfigItem
from barnabas.console.security.secrets import is_secret_key, shown_node
from barnabas.console.services.snapshots import ClusterSnapshots, LogDirs
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, UnavailableError
from barnabas.model.ids import TopicPartition
from barnabas.zk.tree import ConnectionLossError, MetadataTree, NoNodeError, SessionLostError

_OWN = frozenset(
    {
        ConfigSource.DYNAMIC_TOPIC_CONFIG,
        ConfigSource.DYNAMIC_BROKER_CONFIG,
        ConfigSource.DYNAMIC_GROUP_CONFIG,
    }
)
_CONNECT_S = 5.0
_RESPONSE_S = 5.0
_MAX_SHOWN_CHARS = 64 * 1024
_MAX_CHILDREN = 5000
CHECK_INTERVAL_S = 2.0


class ClusterService:
    def __init__(self, link: ClusterLink, snapshots: ClusterSnapshots) -> None:
        self._link = link
        self._snapshots = snapshots

    async def log_dirs(self) -> list[LogDirItem]:
        snapshot = await self._snapshots.current()
        return [
            LogDirItem(
                broker=broker,
                path=item.path,
                error=None if item.error is None else str(item.error),
                replicas=len(item.replicas),
                size_bytes=sum(replica.size_bytes for replica in item.replicas.values()),
                total_bytes=item.total_bytes,
                usable_bytes=item.usable_bytes,
                moving=sum(replica.future for replica in item.replicas.values()),
            )
            for broker, directories in sorted(snapshot.log_dirs.items())
            for item in directories
        ]

    async def reassignments(self) -> list[ReassignmentItem]:
        found = await self._link.admin.list_partition_reassignments()
        # The progress needs current sizes, but only those of the partitions that move.
        log_dirs = await self._snapshots.log_dirs(list(found)) if found else {}
        return [
            ReassignmentItem(
                topic=topic_partition.topic,
                partition=topic_partition.partition,
                replicas=list(item.replicas),
                adding=list(item.adding),
                removing=list(item.removing),
                copied=copied_share(topic_partition, item, log_dirs),
            )
            for topic_partition, item in sorted(found.items())
        ]

    async def reassign(self, body: ReassignmentBody) -> None:
        """Starts a reassignment, or cancels it if there are no replicas."""
        topic_partition = TopicPartition(body.topic, body.partition)
        if body.replicas is not None and len(set(body.replicas)) != len(body.replicas):
            raise BrokerError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "a broker is listed twice")
        (
            await self._link.admin.alter_partition_reassignments({topic_partition: body.replicas})
        ).check()
        self._snapshots.discard()

    async def elect(self, body: ElectionBody) -> ElectionResult:
        """Elects leaders; partitions that need no election are not counted."""
        kind = ElectionType.PREFERRED if body.kind == "preferred" else ElectionType.UNCLEAN
        wanted = None if body.topic is None else await self._partitions(body)
        results = await self._link.admin.elect_leaders(kind, wanted)
        self._snapshots.discard()
        errors = {
            str(topic_partition): str(error)
            for topic_partition, error in results.errors.items()
            if not (isinstance(error, BrokerError) and error.code is ErrorCode.ELECTION_NOT_NEEDED)
        }
        return ElectionResult(elected=len(results.ok), errors=errors)

    async def quotas(self) -> list[QuotaItem]:
        found = await self._link.admin.describe_client_quotas()
        return [
            QuotaItem(user=entity.user, client_id=entity.client_id, ip=entity.ip, values={**values})
            for entity, values in sorted(found.items(), key=lambda item: str(item[0]))
        ]

    async def alter_quota(self, body: QuotaItem) -> None:
        """Sets the quotas of an entity; None removes one."""
        entity = QuotaEntity(body.user, body.client_id, body.ip)
        if not list(entity.parts()):
            raise BrokerError(ErrorCode.INVALID_REQUEST, "a user, a client id or an ip is required")
        (await self._link.admin.alter_client_quotas({entity: body.values})).check()

    async def versions(self, broker: int | None) -> VersionsBody:
        apis = await self._link.admin.describe_api_versions(broker)
        features = await self._link.admin.describe_features(broker)
        return VersionsBody(
            apis=[
                ApiVersionItem(
                    key=item.key,
                    name=item.name,
                    min_version=item.min_version,
                    max_version=item.max_version,
                )
                for item in apis
            ],
            features=[
                FeatureItem(
                    name=name,
                    supported=f"{item.min_version} to {item.max_version}",
                    finalized=(
                        str(features.finalized[name].max_version)
                        if name in features.finalized
                        else None
                    ),
                )
                for name, item in sorted(features.supported.items())
            ],
        )

    async def _partitions(self, body: ElectionBody) -> list[TopicPartition]:
        assert body.topic is not None
        if body.partition is not None:
            return [TopicPartition(body.topic, body.partition)]
        topic = await self._link.admin.describe_topic(body.topic)
        return [TopicPartition(topic.name, item.partition) for item in topic.partitions]


def copied_share(
    topic_partition: TopicPartition, item: Reassignment, log_dirs: LogDirs
) -> float | None:
    """Returns the share of bytes that the slowest new replica has, from the log directories."""
    sizes: dict[int, int] = {}
    for broker, directories in log_dirs.items():
        for directory in directories:
            with contextlib.suppress(KeyError):
                sizes[broker] = directory.replicas[topic_partition].size_bytes
    complete = [broker for broker in item.replicas if broker not in item.adding]
    old = max((sizes.get(broker, 0) for broker in complete), default=0)
    if not item.adding or old == 0:
        return None
    return min(min(sizes.get(broker, 0) / old for broker in item.adding), 1.0)


def is_unsupported(error: BarnabasError) -> bool:
    """Returns whether an error means that the cluster does not have the function."""
    return isinstance(error, BrokerError) and error.code in (
        ErrorCode.UNSUPPORTED_VERSION,
        ErrorCode.SECURITY_DISABLED,
    )


class ConfigService:
    def __init__(self, link: ClusterLink) -> None:
        self._link = link

    async def describe(self, resource: ConfigResource) -> list[ConfigItem]:
        found = await self._link.admin.describe_configs(
            [resource], synonyms=True, documentation=True
        )
        return [config_item(entry) for _, entry in sorted(found[resource].items())]

    async def alter(self, resource: ConfigResource, changes: ConfigChanges) -> None:
        values: dict[str, str | int | float | None] = {**changes.values}
        values.update(dict.fromkeys(changes.reset))
        if values:
            (await self._link.admin.alter_configs({resource: values})).check()


def default_text(entry: ConfigEntry) -> str | None:
    """Returns the value without a setting of the resource itself.

    A broker's setting may have another unit (`log.retention.hours` for `retention.ms`); its name is
    added then.
    """
    fallback = [item for item in entry.synonyms if item.source not in _OWN]
    if not fallback:
        return entry.value if entry.source not in _OWN else None
    found = fallback[0]
    if found.value is None or found.name in (entry.name, f"log.{entry.name}"):
        return found.value
    return f"{found.value} ({found.name})"


def config_item(entry: ConfigEntry) -> ConfigItem:
    secret = entry.sensitive or is_secret_key(entry.name)
    default = default_text(entry)
    return ConfigItem(
        name=entry.name,
        value=None if secret else entry.value,
        default=None if secret else default,
        source=entry.source.name.lower(),
        is_default=entry.source not in _OWN,
        read_only=entry.read_only,
        sensitive=secret,
        documentation=entry.documentation,
    )


class ZooKeeperService:
    """Opens one session at the first use."""

    def __init__(self, address: str | None) -> None:
        self._address = address
        self._tree: MetadataTree | None = None

    async def node(self, path: str) -> TreeNode:
        """Returns the data and the children of a node."""
        tree = await self._connected()
        try:
            async with asyncio.timeout(_RESPONSE_S):
                data, _ = await tree.get(path)
                children = await tree.children(path)
        except NoNodeError:
            raise BrokerError(ErrorCode.RESOURCE_NOT_FOUND, f"there is no node {path}") from None
        except (TimeoutError, ConnectionLossError, SessionLostError):
            raise UnavailableError(f"no ZooKeeper server at {self._address} answers") from None
        shown = shown_node(path, data)
        return TreeNode(
            path=path,
            children=sorted(children)[:_MAX_CHILDREN],
            data=None if shown is None else shown[:_MAX_SHOWN_CHARS],
            size=len(data),
        )

    async def close(self) -> None:
        if self._tree is not None:
            await self._tree.close()

    async def _connected(self) -> MetadataTree:
        if self._address is None:
            raise BrokerError(
                ErrorCode.RESOURCE_NOT_FOUND, "the console was started without --zookeeper"
            )
        if self._tree is None:
            self._tree = await zk.connect(self._address, connect_timeout_s=_CONNECT_S)
        return self._tree


class ConnectionService:
    """Checks the connection and stores the time of the last response."""

    def __init__(self, link: ClusterLink, now: Callable[[], datetime]) -> None:
        self._link = link
        self._now = now
        self._last_answer: datetime | None = None

    async def state(self) -> ConnectionState:
        """Returns the state; it is at most `CHECK_INTERVAL_S` old."""
        try:
            await self._link.check_reachable(CHECK_INTERVAL_S)
        except BarnabasError as error:
            return ConnectionState(
                reachable=False, last_answer=self._last_answer, message=str(error)
            )
        self._last_answer = self._now()
        return ConnectionState(reachable=True, last_answer=None)

    async def changes(self) -> AsyncIterator[ConnectionState]:
        """Yields the state now, and again after each change."""
        shown: ConnectionState | None = None
        while True:
            state = await self.state()
            if state != shown:
                yield state
            shown = state
            await asyncio.sleep(CHECK_INTERVAL_S)


class AccessService:
    def __init__(self, link: ClusterLink) -> None:
        self._link = link

    async def describe(self) -> AccessBody:
        admin = self._link.admin
        authorizer = True
        acls: list[AclItem] = []
        try:
            acls = [acl_item(binding) for binding in await admin.describe_acls()]
        except BarnabasError as error:
            if not is_unsupported(error):
                raise
            authorizer = False
        return AccessBody(authorizer=authorizer, acls=acls, users=await _users(admin))

    async def create_acl(self, body: AclItem) -> None:
        binding = binding_of(body)
        (await self._link.admin.create_acls([binding])).check()

    async def delete_acl(self, body: AclItem) -> int:
        """Deletes one ACL and returns how many were deleted."""
        binding = binding_of(body)
        chosen = AclFilter(
            resource_type=binding.pattern.type,
            name=binding.pattern.name,
            pattern=binding.pattern.pattern,
            principal=binding.entry.principal,
            host=binding.entry.host,
            operation=binding.entry.operation,
            permission=binding.entry.permission,
        )
        deleted = (await self._link.admin.delete_acls([chosen])).check()
        return sum(len(items) for items in deleted.values())


async def _users(admin: AsyncAdmin) -> dict[str, list[str]]:
    try:
        found = (await admin.describe_scram_users()).ok
    except BarnabasError:
        return {}
    return {
        user: [f"{item.mechanism.name.replace('_', '-')} ({item.iterations})" for item in infos]
        for user, infos in sorted(found.items())
    }


def acl_item(binding: AclBinding) -> AclItem:
    return AclItem(
        principal=binding.entry.principal,
        host=binding.entry.host,
        operation=binding.entry.operation.name.lower(),
        permission="allow" if binding.entry.permission is Permission.ALLOW else "deny",
        resource_type=binding.pattern.type.name.lower(),
        resource_name=binding.pattern.name,
        pattern="prefixed" if binding.pattern.pattern is PatternType.PREFIXED else "literal",
    )


def binding_of(body: AclItem) -> AclBinding:
    """Returns the ACL; raises BrokerError for an unknown operation or resource type."""
    try:
        return AclBinding(
            ResourcePattern(
                ResourceType.from_label(body.resource_type),
                body.resource_name,
                PatternType.from_label(body.pattern),
            ),
            AccessEntry(
                body.principal,
                body.host,
                Operation.from_label(body.operation),
                Permission.from_label(body.permission),
            ),
        )
    except ValueError as error:
        raise BrokerError(ErrorCode.INVALID_REQUEST, str(error)) from error
