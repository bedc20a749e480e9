"""The audit log: one line of JSON for each denied request, and for each change of the cluster.

A line has the time, principal, host, listener, client id, API, the resources of the request, the
denied operations and the result. It never contains values: no passwords, keys, tokens, settings or
records. Lines are written by the logger `barnabas.audit`, to `audit.log.file` and to
`audit.log.topic` if they are set.

`AuditTopic` writes to the topic. Lines are collected and sent to the leader of a partition by a
background task, also to this broker itself: the connection between brokers authenticates, and the
leader replicates with acks=all. The broker creates the topic when it writes the first line. A
request is never delayed by its audit line; while the topic cannot be written, lines are kept up to
a limit, and then dropped with a line in the broker's log. The logger and the file of the audit log
are complete in any case.
"""

import asyncio
import json
import logging
import logging.handlers
import os
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from barnabas.broker.cluster.links import BrokerLinks
from barnabas.broker.config import BrokerConfig
from barnabas.broker.error_responses import error_codes
from barnabas.broker.handler import Denial, Handle, Handler, RequestContext, Result
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.broker.topics import Topics, TopicSpec
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, ConfigError
from barnabas.model.ids import NO_BROKER, BrokerId, TopicPartition, topic_name_problem
from barnabas.net.server_connection import ServerConnection
from barnabas.records.builder import BatchBuilder
from barnabas.runtime.clock import Clock
from barnabas.runtime.rate_limited_log import RateLimitedLog
from barnabas.security.acl import ResourceType
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.message import Message, WireStruct
from barnabas.wire.messages import produce
from barnabas.wire.messages.alter_client_quotas import AlterClientQuotasRequest
from barnabas.wire.messages.alter_configs import AlterConfigsRequest
from barnabas.wire.messages.alter_replica_log_dirs import AlterReplicaLogDirsRequest
from barnabas.wire.messages.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from barnabas.wire.messages.create_acls import CreateAclsRequest
from barnabas.wire.messages.create_delegation_token import CreateDelegationTokenRequest
from barnabas.wire.messages.delete_acls import DeleteAclsRequest
from barnabas.wire.messages.delete_groups import DeleteGroupsRequest
from barnabas.wire.messages.delete_topics import DeleteTopicsRequest
from barnabas.wire.messages.elect_leaders import ElectLeadersRequest
from barnabas.wire.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from barnabas.wire.messages.offset_delete import OffsetDeleteRequest

logger = logging.getLogger("barnabas.audit")

MAX_RESOURCES = 50
"""A request about more resources is logged with the first of them and the number of the others."""

_CONFIG_TYPES = {2: "Topic", 4: "Broker", 8: "BrokerLogger", 16: "ClientMetrics", 32: "Group"}
_logger = logging.getLogger("barnabas.broker")
_MAX_LINES = 10_000
_BATCH_LINES = 500
_ALL_REPLICAS = -1
_BY_NAME = 12
"""Last version of Produce that names topics."""
_TIMEOUT_MS = 10_000
_PAUSE_S = 0.05
_RETRY_S = 1.0
_STOP_S = 3.0


class RequestAuditLog:
    """Wraps handlers and writes the audit log; owned by the broker's loop."""

    def __init__(self, config: BrokerConfig, clock: Clock) -> None:
        self._mode: str = config["audit.log"]
        self._file: str | None = config["audit.log.file"]
        self.topic: str | None = config["audit.log.topic"]
        self._put: Callable[[str], None] | None = None
        self._clock = clock

    @property
    def enabled(self) -> bool:
        return self._mode != "off"

    def open(self, stack: AsyncExitStack) -> None:
        """Opens the file, which the stack closes.

        Raises:
            ConfigError: The file cannot be opened, or the name of the topic is not valid.
        """
        if not self.enabled:
            return
        problem = None if self.topic is None else topic_name_problem(self.topic)
        if problem is not None:
            raise ConfigError(f"audit.log.topic={self.topic!r}: {problem}")
        logger.setLevel(logging.INFO)
        if self._file is None:
            return
        handler = _file_handler(self._file)
        logger.addHandler(handler)
        stack.callback(handler.close)
        stack.callback(logger.removeHandler, handler)

    def write_to(self, put: Callable[[str], None]) -> None:
        """Passes each line also to `put`."""
        self._put = put

    def audited(self, handlers: Iterable[Handler]) -> list[Handler]:
        """Returns the handlers, wrapped if the audit log is enabled."""
        if not self.enabled:
            return list(handlers)
        return [handler.wrapped(self._wrapped(handler)) for handler in handlers]

    def authentication_failed(self, connection: ServerConnection, reason: str) -> None:
        """Logs a failed login; `reason` never contains what the client sent."""
        if self.enabled:
            self._write(connection, "SASL_AUTHENTICATE", {"result": "denied", "reason": reason})

    def _wrapped(self, handler: Handler) -> Handle:
        serve = handler.handle
        list_resources = CHANGES.get(handler.api) if self._mode == "all" else None

        def handle(ctx: RequestContext, request: Message) -> Result:
            # Before the authorization step, which removes denied parts of the request.
            resources = None if list_resources is None else _limited(list_resources(request))
            denials: list[Denial] = []
            ctx.denials = denials

            def finish(response: Message) -> Message:
                self._finish(ctx, handler.api, resources, response)
                return response

            result = serve(ctx, request)
            if isinstance(result, Message | Awaitable):
                # Registered last, so the response contains the denied parts again.
                ctx.amend_with(finish)
            elif denials:  # an acknowledgement that is not available yet
                self._log(ctx, handler.api, resources, "denied")
            return result

        return handle

    def _finish(
        self, ctx: RequestContext, api: ApiKey, resources: list[str] | None, response: Message
    ) -> None:
        names = {ErrorCode.of(code).name for code in error_codes(response)}
        denied = any(name.endswith("AUTHORIZATION_FAILED") for name in names)
        if denied or resources is not None:
            self._log(ctx, api, resources, ",".join(sorted(names)) or "ok", denied=denied)

    def _log(
        self,
        ctx: RequestContext,
        api: ApiKey,
        resources: list[str] | None,
        result: str,
        *,
        denied: bool = True,
    ) -> None:
        entry: dict[str, object] = {"client_id": ctx.header.client_id}
        if resources is not None:
            entry["resources"] = resources
        if denied:
            found = dict.fromkeys(f"{op} {kind}:{name}" for op, kind, name in ctx.denials or ())
            entry["denied"] = _limited(found)
        entry["result"] = result
        self._write(ctx.connection, api.name, entry)

    def _write(self, connection: ServerConnection, api: str, entry: dict[str, object]) -> None:
        time_s = self._clock.now_ms() / 1000
        line = {
            "time": datetime.fromtimestamp(time_s, UTC).isoformat(timespec="milliseconds"),
            "principal": str(connection.principal),
            "host": connection.stream.peer[0],
            "listener": connection.listener_name,
            "api": api,
            **entry,
        }
        text = json.dumps(line, ensure_ascii=True)
        logger.info("%s", text)
        if self._put is not None:
            self._put(text)


def _file_handler(name: str) -> logging.Handler:
    """Returns a handler that appends to a file of mode 0600 and follows its rotation."""
    try:
        path = Path(name).expanduser()
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
        handler = logging.handlers.WatchedFileHandler(path, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"audit.log.file={name!r}: {error.strerror}") from None
    handler.setFormatter(logging.Formatter("%(message)s"))
    return handler


def _limited(resources: Iterable[str]) -> list[str]:
    found = list(resources)
    if len(found) <= MAX_RESOURCES:
        return found
    return [*found[:MAX_RESOURCES], f"and {len(found) - MAX_RESOURCES} more"]


# --- resources of the requests that change the cluster -------------------------------------------


def _topics(request: WireStruct) -> Iterator[str]:
    """For every request with a list `topics`, whose items have a name or a topic id."""
    for topic in getattr(request, "topics", None) or ():
        yield f"Topic:{topic.name or getattr(topic, 'topic_id', '')}"


def _deleted_topics(request: DeleteTopicsRequest) -> Iterator[str]:
    yield from _topics(request)
    for name in request.topic_names or ():
        yield f"Topic:{name}"


def _elections(request: ElectLeadersRequest) -> Iterator[str]:
    for topic in request.topic_partitions or ():
        yield f"Topic:{topic.topic}"


def _moved_logs(request: AlterReplicaLogDirsRequest) -> Iterator[str]:
    for directory in request.dirs:
        yield from _topics(directory)


def _configs(request: AlterConfigsRequest | IncrementalAlterConfigsRequest) -> Iterator[str]:
    for resource in request.resources:
        kind = _CONFIG_TYPES.get(resource.resource_type, str(resource.resource_type))
        keys = ",".join(item.name for item in resource.configs)
        yield f"{kind}:{resource.resource_name}[{keys}]"


def _created_acls(request: CreateAclsRequest) -> Iterator[str]:
    for acl in request.creations:
        yield f"{_type_name(acl.resource_type)}:{acl.resource_name}[{acl.principal}]"


def _deleted_acls(request: DeleteAclsRequest) -> Iterator[str]:
    for chosen in request.filters:
        name, principal = chosen.resource_name_filter, chosen.principal_filter
        yield f"{_type_name(chosen.resource_type_filter)}:{name or '*'}[{principal or '*'}]"


def _type_name(number: int) -> str:
    known = {kind.value: kind.label for kind in ResourceType}
    return known.get(number, str(number))


def _groups(request: DeleteGroupsRequest) -> Iterator[str]:
    for name in request.groups_names:
        yield f"Group:{name}"


def _deleted_offsets(request: OffsetDeleteRequest) -> Iterator[str]:
    yield f"Group:{request.group_id}"
    yield from _topics(request)


def _quotas(request: AlterClientQuotasRequest) -> Iterator[str]:
    for entry in request.entries:
        yield ",".join(f"{e.entity_type}:{e.entity_name or '<default>'}" for e in entry.entity)


def _scram_users(request: AlterUserScramCredentialsRequest) -> Iterator[str]:
    for deletion in request.deletions:
        yield f"User:{deletion.name}"
    for upsertion in request.upsertions:
        yield f"User:{upsertion.name}"


def _token_owner(request: CreateDelegationTokenRequest) -> Iterator[str]:
    if request.owner_principal_name:
        yield f"{request.owner_principal_type}:{request.owner_principal_name}"


def _no_names(request: object) -> Iterator[str]:
    """The HMAC that identifies a token is a secret."""
    return iter(())


CHANGES: dict[ApiKey, Callable[[Any], Iterator[str]]] = {
    ApiKey.CREATE_TOPICS: _topics,
    ApiKey.DELETE_TOPICS: _deleted_topics,
    ApiKey.DELETE_RECORDS: _topics,
    ApiKey.CREATE_PARTITIONS: _topics,
    ApiKey.ALTER_CONFIGS: _configs,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: _configs,
    ApiKey.ALTER_REPLICA_LOG_DIRS: _moved_logs,
    ApiKey.ELECT_LEADERS: _elections,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: _topics,
    ApiKey.CREATE_ACLS: _created_acls,
    ApiKey.DELETE_ACLS: _deleted_acls,
    ApiKey.DELETE_GROUPS: _groups,
    ApiKey.OFFSET_DELETE: _deleted_offsets,
    ApiKey.ALTER_CLIENT_QUOTAS: _quotas,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: _scram_users,
    ApiKey.CREATE_DELEGATION_TOKEN: _token_owner,
    ApiKey.RENEW_DELEGATION_TOKEN: _no_names,
    ApiKey.EXPIRE_DELEGATION_TOKEN: _no_names,
}
"""The APIs that change the cluster, with the resources of their requests; not those of records,
offsets and transactions, which clients use all the time."""


class AuditTopic:
    """Queues audit lines and writes them to `audit.log.topic`.

    Owned by the broker's loop. Call `start` when the broker serves requests.
    """

    def __init__(
        self,
        topic: str,
        topics: Topics,
        metadata: MetadataCache,
        links: BrokerLinks,
        clock: Clock,
    ) -> None:
        self._topic = topic
        self._topics = topics
        self._metadata = metadata
        self._links = links
        self._clock = clock
        self._log = RateLimitedLog(_logger, clock)
        self._lines: deque[tuple[int, bytes]] = deque()
        self._arrived = asyncio.Event()
        self._dropped = 0
        self._task: asyncio.Task[None] | None = None

    def put(self, line: str) -> None:
        """Adds a line; drops the oldest one if too many wait."""
        if len(self._lines) >= _MAX_LINES:
            self._lines.popleft()
            self._dropped += 1
        self._lines.append((self._clock.now_ms(), line.encode()))
        self._arrived.set()

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(), name="audit-topic")

    async def stop(self) -> None:
        """Sends the lines that wait, for at most three seconds."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        try:
            async with asyncio.timeout(_STOP_S):
                while self._lines:
                    await self._send()
        except (BarnabasError, OSError, TimeoutError) as error:
            _logger.warning("%d lines are missing in %s: %s", len(self._lines), self._topic, error)

    async def _run(self) -> None:
        while True:
            await self._arrived.wait()
            await asyncio.sleep(_PAUSE_S)  # lines of the same moment share a batch
            self._arrived.clear()
            try:
                while self._lines:
                    await self._send()
            except (BarnabasError, OSError) as error:
                line = "audit.log.topic=%s cannot be written, %d lines wait, %d are lost: %s"
                self._log.warning(
                    "write", line, self._topic, len(self._lines), self._dropped, error
                )
                self._arrived.set()
                await asyncio.sleep(_RETRY_S)

    async def _send(self) -> None:
        """Sends one batch; its lines stay in the queue until it is acknowledged."""
        chunk = [self._lines[n] for n in range(min(len(self._lines), _BATCH_LINES))]
        topic_partition, leader = await self._leader()
        builder = BatchBuilder()
        for now_ms, line in chunk:
            builder.append(None, line, timestamp_ms=now_ms)
        data = produce.PartitionProduceData(topic_partition.partition, builder.build())
        request = produce.ProduceRequest(
            acks=_ALL_REPLICAS,
            timeout_ms=_TIMEOUT_MS,
            topic_data=[produce.TopicProduceData(name=self._topic, partition_data=[data])],
        )
        dropped = self._dropped
        response: produce.ProduceResponse = await self._links.to(leader).request(
            request, version=_BY_NAME, timeout_s=2 * _TIMEOUT_MS / 1000
        )
        partition = response.responses[0].partition_responses[0]
        if partition.error_code:
            raise BrokerError(ErrorCode.of(partition.error_code), partition.error_message)
        for _ in range(len(chunk) - (self._dropped - dropped)):
            self._lines.popleft()

    async def _leader(self) -> tuple[TopicPartition, BrokerId]:
        """Returns a partition that has a leader; creates the topic if it does not exist."""
        if not self._metadata.has_topic(self._topic):
            try:
                await self._topics.create(TopicSpec(self._topic))
            except BrokerError as error:
                if error.code is not ErrorCode.TOPIC_ALREADY_EXISTS:
                    raise
            await self._topics.wait_for_leaders(self._topic, 1, _TIMEOUT_MS)
        for partition, state in (self._metadata.partitions(self._topic) or {}).items():
            if state.leader != NO_BROKER:
                return TopicPartition(self._topic, partition), state.leader
        raise BrokerError(ErrorCode.LEADER_NOT_AVAILABLE)
