"""The metadata tree on a ZooKeeper ensemble, through kazoo.

kazoo runs its own threads. Requests are sent from the loop without blocking; responses, watch
events and session states are passed to the loop with `call_soon_threadsafe`, in order and converted
to the types of the port (`kazoo_values`).

If the connection fails before the response to a write, `read_back` reads the tree after
reconnecting to determine whether it was applied; if that is impossible, the caller gets
ConnectionLossError.

The ACLs of nodes are those of Kafka's `zookeeper.set.acl`: the creator has all rights, every user
may read, except nodes with secrets, which only the creator may read. /consumers stays open, because
consumers of any user write there. kazoo 2.11 does not close the socket of a TLS connection that
fails (refused, or a handshake that fails), so `TlsHandler` opens TLS connections in its place.
"""

import asyncio
import atexit
import contextlib
import logging
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter_ns
from typing import Any

from kazoo import exceptions as kazoo_errors
from kazoo.client import KazooClient
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.states import WatchedEvent
from kazoo.security import ACL, CREATOR_ALL_ACL, OPEN_ACL_UNSAFE, READ_ACL_UNSAFE

from barnabas.model.errors import UnavailableError
from barnabas.runtime.clock import SystemClock
from barnabas.zk import paths
from barnabas.zk.kazoo_values import (
    KazooLog,
    add_op,
    multi_results,
    session_state,
    stat_of,
    tree_error,
    watch_kind,
)
from barnabas.zk.read_back import WriteOutcome, outcome_of, results_of
from barnabas.zk.tree import (
    ConnectionLossError,
    CreateOp,
    MultiError,
    NodeExistsError,
    NodeTooLargeError,
    Op,
    OpResult,
    SessionLostError,
    SessionState,
    SetOp,
    Stat,
    TreeSession,
    Watch,
    WatchEvent,
    ancestors_of,
    check_size,
)
from barnabas.zk.zookeeper_security import OPEN, ZooKeeperSecurity

_log = logging.getLogger(__name__)

_ATTEMPTS = 5
_MAX_IN_FLIGHT = 10


async def connect(
    hosts: str,
    *,
    session_timeout_s: float = 18.0,
    connect_timeout_s: float = 18.0,
    max_in_flight: int = _MAX_IN_FLIGHT,
    security: ZooKeeperSecurity = OPEN,
) -> "KazooTree":
    """Opens a session on `host:port,host:port/chroot`; the chroot is created if it is missing.

    At most `max_in_flight` requests wait for a response at a time; the others are queued.
    """
    tree = KazooTree(hosts, session_timeout_s, max_in_flight, security)
    try:
        await tree.open(connect_timeout_s)
    except BaseException:
        await tree.close()
        raise
    return tree


class KazooTree(TreeSession):
    """One session on a real ensemble: a `MetadataTree`.

    After LOST a new session is opened as soon as a server is reachable (KAFKA-5473).
    """

    def __init__(
        self,
        hosts: str,
        session_timeout_s: float,
        max_in_flight: int = _MAX_IN_FLIGHT,
        security: ZooKeeperSecurity = OPEN,
    ) -> None:
        super().__init__(SessionState.LOST)
        self._hosts = hosts
        self._security = security
        # Waiting requests are sent in the order of their calls.
        self._in_flight = asyncio.Semaphore(max_in_flight)
        self._timeout_s = session_timeout_s
        self._loop = asyncio.get_running_loop()
        self._kazoo_log = KazooLog(logging.getLogger("barnabas.zk.kazoo"), hosts, SystemClock())
        self._client = KazooClient(
            hosts=hosts,
            timeout=session_timeout_s,
            connection_retry={"max_tries": -1, "delay": 0.05, "backoff": 2, "max_delay": 2.0},
            logger=self._kazoo_log,
            **client_options(security),
        )
        self._connected = asyncio.Event()
        self._outstanding: dict[tuple[str, str, Watch], Callable[[WatchedEvent], None]] = {}

    async def open(self, timeout_s: float) -> None:
        """Connects; raises UnavailableError if no server responds in time."""
        self._client.add_listener(self._on_state_in_kazoo)
        self._client.start_async()
        # kazoo's own exit handler would stop its threads before the tree's owner, which is closed
        # at exit as well, has removed its nodes and ended the session.
        atexit.unregister(self._client.handler.stop)
        try:
            await asyncio.wait_for(self._connected.wait(), timeout_s)
        except TimeoutError as error:
            text = f"no ZooKeeper server at {self._hosts} answers"
            cause = self._kazoo_log.last_problem
            raise UnavailableError(f"{text}: {cause}" if cause else text) from error
        if self._client.chroot:
            acl = acl_of("/", self._security)
            await self._result(self._client.ensure_path_async("/", acl), "/")

    async def close(self) -> None:
        if self._state is SessionState.CLOSED:
            return
        self._state = SessionState.CLOSED
        self._kazoo_log.close()
        self._connected.set()
        self._outstanding.clear()
        await self._stopped()
        for listener in self._listeners:
            self._loop.call_soon(listener, SessionState.CLOSED)

    async def ensure_path(self, path: str) -> None:
        if not self._security.set_acl:
            await self._read(lambda: self._client.ensure_path_async(path), path)
            return
        for step in ancestors_of(path):  # each with its own ACL
            if await self.exists(step) is None:
                with contextlib.suppress(NodeExistsError):
                    await self.create(step)

    async def get(self, path: str, watch: Watch | None = None) -> tuple[bytes, Stat]:
        relay = self._relay(path, "data", watch)
        data, stat = await self._read(lambda: self._client.get_async(path, relay), path)
        return data, stat_of(stat)

    async def exists(self, path: str, watch: Watch | None = None) -> Stat | None:
        relay = self._relay(path, "data", watch)
        stat = await self._read(lambda: self._client.exists_async(path, relay), path)
        return stat_of(stat) if stat is not None else None

    async def children(self, path: str, watch: Watch | None = None) -> list[str]:
        relay = self._relay(path, "children", watch)
        names = await self._read(lambda: self._client.get_children_async(path, relay), path)
        return sorted(names)

    async def multi(self, ops: Sequence[Op]) -> list[OpResult]:
        if not ops:
            return []
        _check_sizes(ops)
        for _ in range(_ATTEMPTS):
            try:
                return await self._send(ops)
            except ConnectionLossError:
                # The servers may have applied the write. A blind repetition would then fail at its
                # own effect: a node that exists, a version that has increased.
                outcome = await outcome_of(self, ops)
                if outcome is WriteOutcome.APPLIED:
                    return await results_of(self, ops)
                if outcome is WriteOutcome.UNKNOWN:
                    raise
        raise ConnectionLossError(f"the connection to {self._hosts} keeps failing")

    async def _send(self, ops: Sequence[Op]) -> list[OpResult]:
        await self._until_connected()
        transaction = self._client.transaction()
        for op in ops:
            add_op(transaction, op, acl_of(op.path, self._security))
        async with self._in_flight:
            results = await self._result(transaction.commit_async(), ops[0].path)
        return multi_results(ops, results)

    async def _read(self, start: Callable[[], object], path: str) -> Any:
        """Repeats a read when the connection fails: a read has no side effects."""
        for _ in range(_ATTEMPTS):
            await self._until_connected()
            try:
                async with self._in_flight:
                    return await self._result(start(), path)
            except ConnectionLossError as error:
                _log.debug("reading %s again: %s", path, error)
        raise ConnectionLossError(f"the connection to {self._hosts} keeps failing")

    async def _until_connected(self) -> None:
        if self._state is SessionState.SUSPENDED:
            try:
                await asyncio.wait_for(self._connected.wait(), self._timeout_s)
            except TimeoutError as error:
                raise ConnectionLossError(f"no connection to {self._hosts}") from error
        if self._state is not SessionState.CONNECTED:
            raise SessionLostError(f"session {self._session_id:#x} has ended")

    async def _result(self, pending: Any, path: str) -> Any:
        """Waits for the result of a kazoo call, which one of its threads provides."""
        started_ns = perf_counter_ns()
        future: asyncio.Future[Any] = self._loop.create_future()
        pending.rawlink(lambda done: self._call_soon(_transfer, done, future))
        try:
            return await future
        except kazoo_errors.KazooException as error:
            raise tree_error(error, path) from error
        finally:
            self._request_time.record(perf_counter_ns() - started_ns)

    def _relay(
        self, path: str, kind: str, watch: Watch | None
    ) -> Callable[[WatchedEvent], None] | None:
        """Returns kazoo's callback for a watch; the same one while it is set, because it fires
        once.
        """
        if watch is None:
            return None
        key = (path, kind, watch)
        relay = self._outstanding.get(key)
        if relay is None:

            def relay(event: WatchedEvent) -> None:
                self._call_soon(self._fire, key, event.type)

            self._outstanding[key] = relay
        return relay

    def _fire(self, key: tuple[str, str, Watch], event_type: str) -> None:
        self._outstanding.pop(key, None)
        if self._state is not SessionState.CLOSED:
            path, _, watch = key
            watch(WatchEvent(watch_kind(event_type), path))

    def _on_state_in_kazoo(self, state: str) -> None:
        client_id = self._client.client_id
        self._call_soon(self._become, session_state(state), client_id[0] if client_id else 0)

    def _become(self, state: SessionState, session_id: int) -> None:
        if self._state is SessionState.CLOSED:
            return
        first = self._session_id == 0
        self._state = state
        if state is SessionState.CONNECTED:
            self._session_id = session_id
            self._kazoo_log.connected()
            self._connected.set()
        else:
            self._connected.clear()
        if not first:
            for listener in self._listeners:
                listener(state)

    def _call_soon(self, callback: Callable[..., None], *args: object) -> None:
        """Called in kazoo's threads; does nothing after the loop was closed."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(callback, *args)

    async def _stopped(self) -> None:
        try:
            stopped = self._loop.run_in_executor(None, self._stop_client)
        except RuntimeError:  # No thread can be started at interpreter exit.
            self._stop_client()
        else:
            await stopped

    def _stop_client(self) -> None:
        """Blocks until kazoo's threads have ended, or logs that one did not in time."""
        try:
            self._client.stop()
            self._client.close()
        except kazoo_errors.KazooException as error:
            _log.warning("the session on %s did not close in time: %s", self._hosts, error)


def _transfer(done: Any, future: asyncio.Future[Any]) -> None:
    if future.done():
        return
    if done.exception is not None:
        future.set_exception(done.exception)
    else:
        future.set_result(done.value)


def _check_sizes(ops: Sequence[Op]) -> None:
    for index, op in enumerate(ops):
        if isinstance(op, CreateOp | SetOp):
            try:
                check_size(op.path, op.data)
            except NodeTooLargeError as error:
                raise MultiError(index, op, error) from error


# --- Authentication, TLS and ACLs -----------------------------------------------------------------


_SECRET_ROOTS = (
    "/config/users",
    "/config/brokers",
    paths.DELEGATION_TOKENS,
    paths.DECOY_SECRET,
)


def client_options(security: ZooKeeperSecurity) -> Mapping[str, Any]:
    """Returns the arguments of a KazooClient."""
    options: dict[str, Any] = {}
    if security.username is not None:
        options["auth_data"] = [("digest", f"{security.username}:{security.password}")]
    if security.tls:
        options |= {"use_ssl": True, "handler": TlsHandler(security)}
    return options


def acl_of(path: str, security: ZooKeeperSecurity) -> list[ACL] | None:
    """Returns the ACL of a new node; None: ZooKeeper's default, which allows every user
    everything.
    """
    if not security.set_acl:
        return None
    if path == paths.CONSUMERS:
        return list(OPEN_ACL_UNSAFE)
    if any(path == root or path.startswith(f"{root}/") for root in _SECRET_ROOTS):
        return list(CREATOR_ALL_ACL)
    return [*CREATOR_ALL_ACL, *READ_ACL_UNSAFE]


class TlsHandler(SequentialThreadingHandler):  # type: ignore[misc]  # kazoo is untyped
    """kazoo's threads, with TLS connections that are closed if they cannot be established."""

    def __init__(self, security: ZooKeeperSecurity) -> None:
        super().__init__()
        self._security = security

    def create_connection(
        self, address: tuple[str, int], hostname: str, timeout: float, **_: object
    ) -> ssl.SSLSocket:
        """Connects; reads the certificate files again, so that renewed ones are used."""
        context = tls_context(self._security)
        plain = socket.create_connection(address, timeout)
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return context.wrap_socket(plain, server_hostname=hostname)
        except BaseException:
            plain.close()
            raise


def tls_context(security: ZooKeeperSecurity) -> ssl.SSLContext:
    """Returns a context with the files as they are now."""
    context = ssl.create_default_context(cafile=security.trust_file)
    context.check_hostname = security.check_host
    if security.key_file is not None:
        context.load_cert_chain(security.key_file, password=security.key_password)
    return context
