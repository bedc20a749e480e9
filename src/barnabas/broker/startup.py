"""Steps of a broker's start: metadata tree, identity, state after the last run, held requests."""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Sequence, Set
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from barnabas import zk
from barnabas.broker.access.inter_broker import INTER_BROKER_APIS
from barnabas.broker.config import BrokerConfig
from barnabas.broker.handler import NO_RESPONSE, Handle, RequestContext, Result
from barnabas.controller.registration import cluster_id, ensure_roots, generate_broker_id
from barnabas.model.control import Endpoint
from barnabas.model.errors import ConfigError, UnavailableError
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.net.close_reasons import CloseReason, ConnectionClosedError
from barnabas.replication.safety_rules import StartKind
from barnabas.runtime.clock import Clock
from barnabas.storage.log_manager import LogManager
from barnabas.storage.small_files import read_offsets, read_text, replace_file, write_offsets
from barnabas.wire.api_keys import ApiKey
from barnabas.zk.sqlite_tree import EmbeddedStore
from barnabas.zk.tree import MetadataTree
from barnabas.zk.zookeeper_security import ZooKeeperSecurity

_logger = logging.getLogger("barnabas.broker")
METADATA_FILE = "metadata.sqlite"
_ANY_HOSTS = frozenset({"", "0.0.0.0", "::"})
_KERNEL_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_BOOT_ID_FILE = "last-boot-id"
_DOUBTFUL_FILE = "doubtful-replicas"
# One held request per connection: bounds what clients can queue before the broker has started.
MAX_HELD = 1000
MAX_WAIT_S = 60.0
_SERVED_AT_ONCE = INTER_BROKER_APIS | {ApiKey.API_VERSIONS}


# --- Metadata tree --------------------------------------------------------------------------------


async def open_tree(
    stack: AsyncExitStack, config: BrokerConfig, clock: Clock, shared: EmbeddedStore | None
) -> MetadataTree:
    """Returns a session on the tree; the stack closes it."""
    hosts = config["zookeeper.connect"]
    if hosts is not None:
        return await _connect_to_zookeeper(stack, config, hosts)
    if shared is not None:
        session = shared.session()
        stack.push_async_callback(session.close)
        return session
    store = EmbeddedStore(clock, config.log_dirs[0] / METADATA_FILE)
    stack.push_async_callback(store.close)
    return store.session()


async def _connect_to_zookeeper(
    stack: AsyncExitStack, config: BrokerConfig, hosts: str
) -> MetadataTree:
    """Retries until a server responds: brokers and ZooKeeper may be started in any order."""
    security = ZooKeeperSecurity.of_broker(config.__getitem__)
    session_ms = config["zookeeper.session.timeout.ms"]
    connect_ms = config["zookeeper.connection.timeout.ms"]
    while True:
        try:
            tree = await zk.connect(
                hosts,
                session_timeout_s=session_ms / 1000,
                connect_timeout_s=(session_ms if connect_ms is None else connect_ms) / 1000,
                max_in_flight=config["zookeeper.max.in.flight.requests"],
                security=security,
            )
        except UnavailableError as error:
            _logger.warning("the broker cannot start yet, retrying: %s", error)
        else:
            stack.push_async_callback(tree.close)
            return tree


# --- Identity -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Identity:
    """The ids of a broker and of its cluster; a running broker never changes them."""

    broker_id: BrokerId
    cluster_id: str


async def establish(config: BrokerConfig, tree: MetadataTree, logs: LogManager) -> Identity:
    """Reads or generates both ids and writes them to the log directories."""
    await ensure_roots(tree)
    cluster = await cluster_id(tree)
    wanted = config["cluster.id"]
    if wanted is not None and wanted != cluster:
        raise ConfigError(f"cluster.id={wanted!r}: the cluster id is {cluster!r}")
    # Locks the directories and reads their owner before anything is written: a directory of another
    # cluster must not be changed.
    meta = logs.dirs.acquire()
    broker_id = config.broker_id
    if broker_id < 0:
        if meta is not None and meta.broker_id is not None:
            broker_id = meta.broker_id
        elif not config["broker.id.generation.enable"]:
            raise ConfigError("broker.id is needed: broker.id.generation.enable is false")
        else:
            reserved = config["reserved.broker.max.id"]
            broker_id = await generate_broker_id(tree, reserved_max=reserved)
    logs.dirs.ensure_meta(broker_id, cluster)
    return Identity(BrokerId(broker_id), cluster)


def registered_endpoints(config: BrokerConfig, bound: Sequence[Endpoint]) -> tuple[Endpoint, ...]:
    """Returns the addresses to register: the advertised listeners, or the bound ones with a host
    name that other hosts may be able to resolve.
    """
    advertised = config.advertised_listeners
    if advertised is not None:
        ports = {endpoint.listener: endpoint.port for endpoint in bound}
        return tuple(
            Endpoint(e.listener, e.host, e.port or ports.get(e.listener, 0), e.security_protocol)
            for e in advertised
        )
    return tuple(
        Endpoint(e.listener, _reachable(e.host), e.port, e.security_protocol) for e in bound
    )


def _reachable(host: str) -> str:
    return socket.gethostname() if host in _ANY_HOSTS else host


# --- State after the last run ---------------------------------------------------------------------


def start_kind(logs: LogManager) -> StartKind:
    """Returns how the last run ended and stores the current boot id; called after loading.

    A killed process loses no written data, because the page cache survives it. After a power loss
    the end of every log may be missing. The kernel's boot id, stored in each log directory at
    start, distinguishes the two.

    Replicas whose end may be missing are *doubtful* until they have caught up with a leader. The
    file `doubtful-replicas` keeps them over further restarts.
    """
    current = _current_boot()
    kinds = []
    for directory in logs.dirs.online:
        note = directory.path / _BOOT_ID_FILE
        last = (read_text(directory.fs, note) or "").strip()
        # Stored immediately: otherwise the next start would take a crash of this run for the
        # power loss before it.
        if last != current and current:
            replace_file(directory.fs, note, current.encode())
        # Without a stored boot id the directory is new or was written by Kafka, which records none.
        if directory.clean or not last:
            kinds.append(StartKind.CLEAN)
        else:
            kinds.append(StartKind.CRASHED if last == current else StartKind.POWER_LOST)
    for worst in (StartKind.POWER_LOST, StartKind.CRASHED):
        if worst in kinds:
            return worst
    return StartKind.CLEAN


def doubtful_replicas(logs: LogManager) -> frozenset[TopicPartition]:
    """Returns the replicas that lost their end, possibly, in this or an earlier power loss."""
    known = {
        partition
        for directory in logs.dirs.online
        for partition in read_offsets(directory.fs, directory.path / _DOUBTFUL_FILE)
    }
    if start_kind(logs) is StartKind.POWER_LOST:
        known.update(log.topic_partition for log in logs)
    keep_doubtful(logs, known)
    return frozenset(known)


def keep_doubtful(logs: LogManager, doubtful: Set[TopicPartition]) -> None:
    """Stores the doubtful replicas; writes only changed files."""
    for directory in logs.dirs.online:
        path = directory.path / _DOUBTFUL_FILE
        found = (logs.get(partition) for partition in doubtful)
        wanted = {
            log.topic_partition: log.log_end_offset
            for log in found
            if log is not None and log.directory.parent == directory.path
        }
        if wanted.keys() != read_offsets(directory.fs, path).keys():
            write_offsets(directory.fs, path, wanted)


def _current_boot() -> str:
    try:
        return _KERNEL_BOOT_ID.read_text().strip()
    except OSError:
        return ""


# --- Requests during the start --------------------------------------------------------------------


class StartGate:
    """An `Interceptor`, in force until the broker has started; owned by the broker's loop.

    The controller's commands, which a broker needs for its start, use the same listeners and are
    served immediately. Other requests wait: without metadata the broker would send wrong responses,
    and some clients fail when the connection is closed.

    The connection of a held request is muted, so each connection has at most one held request.
    """

    def __init__(self, *, max_held: int = MAX_HELD, max_wait_s: float = MAX_WAIT_S) -> None:
        self._max_held = max_held
        self._max_wait_s = max_wait_s
        self._decided = asyncio.Event()
        self._is_open = False
        self.held = 0

    def __call__(self, context: RequestContext, request: object, handle: Handle) -> Result:
        if self._is_open or context.header.api_key in _SERVED_AT_ONCE:
            return handle(context, request)
        if self.held >= self._max_held:
            raise _not_started(
                f"{self.held} requests wait for the broker to start, no more are held"
            )
        self.held += 1
        return self._hold(context, request, handle)

    def open(self) -> None:
        """Serves the held requests; called when the broker has started."""
        self._is_open = True
        self._decided.set()

    def close(self) -> None:
        """Closes the connections of held requests; called when the broker stops."""
        self._decided.set()

    def _hold(self, context: RequestContext, request: object, handle: Handle) -> Awaitable[Any]:
        async def serve_later() -> Any:
            try:
                async with asyncio.timeout(self._max_wait_s):
                    await self._decided.wait()
            except TimeoutError:
                raise _not_started(f"the broker did not start in {self._max_wait_s:g} s") from None
            finally:
                self.held -= 1
            # The client gave up while it waited; serving the request now could repeat one that it
            # has sent elsewhere.
            if context.connection.closed:
                return NO_RESPONSE
            if not self._is_open:
                raise _not_started("the broker stopped during its start")
            return handle(context, request)

        return serve_later()


def _not_started(why: str) -> ConnectionClosedError:
    return ConnectionClosedError(CloseReason.NOT_STARTED, why)
