"""Security between brokers: connections to other brokers, and commands from them.

A broker accepts commands of other brokers only on its inter-broker listener. The peer must be a
broker:

- On a listener with SASL or client certificates by its principal. With an authorizer CLUSTER_ACTION
  decides. Without one the principal must be the user of this broker's own login, or a super user.
- Otherwise by its address, which must be that of a broker registered in the metadata tree.

A single broker has no peers. It executes its commands itself and serves none of them over a socket
(`served_handlers`).
"""

import asyncio
import contextlib
import ipaddress
import logging
import socket
from collections.abc import Awaitable, Iterable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from barnabas.broker.access.access import super_users
from barnabas.broker.config import BrokerConfig
from barnabas.broker.handler import AvailableResult, Handle, Handler, RequestContext, Result
from barnabas.net.close_reasons import CloseReason, ConnectionClosedError
from barnabas.net.server_connection import ServerConnection
from barnabas.net.tls_context import ReloadableClientContext
from barnabas.runtime.clock import Clock
from barnabas.security.principal import ANONYMOUS, USER, Principal
from barnabas.wire.api_keys import ApiKey
from barnabas.zk import paths
from barnabas.zk.tree import MetadataTree, NoNodeError, TreeError
from barnabas.zk.znodes import BrokerNode

if TYPE_CHECKING:
    from barnabas.net.sasl_client import SaslLogin


class InterBrokerSecurity(NamedTuple):
    """TLS context and login; both are None on a plaintext listener."""

    tls: ReloadableClientContext | None = None
    login: "SaslLogin | None" = None


def inter_broker_security(config: BrokerConfig) -> InterBrokerSecurity:
    """Returns the security of connections to other brokers; raises ConfigError if incomplete."""
    name = config.inter_broker_listener
    known = {endpoint.listener: endpoint for endpoint in config.listeners}
    endpoint = known.get(name)
    if endpoint is None or endpoint.security_protocol == "PLAINTEXT":
        return InterBrokerSecurity()
    # Start-up time: a plaintext listener needs neither TLS nor SASL.
    from barnabas.broker.access.listener_security import inter_broker_context
    from barnabas.broker.access.sasl_mechanisms import inter_broker_login

    tls = None
    if endpoint.security_protocol.endswith("SSL"):
        tls = inter_broker_context(partial(config.listener_value, name))
    login = None
    if endpoint.security_protocol.startswith("SASL"):
        login = inter_broker_login(config, name)
    return InterBrokerSecurity(tls, login)


# --- commands of other brokers -------------------------------------------------------------------


_logger = logging.getLogger("barnabas.broker")

# WriteTxnMarkers is not among them: administrators abort transactions with it.
INTER_BROKER_APIS = frozenset(
    {
        ApiKey.LEADER_AND_ISR,
        ApiKey.STOP_REPLICA,
        ApiKey.UPDATE_METADATA,
        ApiKey.CONTROLLED_SHUTDOWN,
        ApiKey.ALTER_PARTITION,
    }
)
# A peer with an unknown address causes a read of the registrations, at most this often.
_READ_INTERVAL_MS = 200
# A broker may have left and its address may belong to another host: read again after this time.
_VALID_MS = 30_000


def served_handlers(handlers: Iterable[Handler], *, alone: bool) -> tuple[Handler, ...]:
    """Returns the handlers that a broker serves over sockets; `alone` means a single broker."""
    return tuple(h for h in handlers if not (alone and h.api in INTER_BROKER_APIS))


class BrokerPeers:
    """Distinguishes connections of brokers from those of clients; owned by the broker's loop."""

    def __init__(self, config: BrokerConfig, tree: MetadataTree, clock: Clock) -> None:
        """Raises ConfigError if `super.users` is malformed."""
        self._listener = config.inter_broker_listener
        self._has_authorizer = bool(
            config.listener_value(self._listener, "authorizer.class.name").strip()
        )
        self._uses_sasl = _protocol(config, self._listener).startswith("SASL")
        self._principals = _broker_principals(config, self._listener)
        self._tree = tree
        self._clock = clock
        self._addresses: frozenset[str] = frozenset()
        self._read_at_ms: int | None = None
        self._reading = asyncio.Lock()

    def restrict(self, handlers: Iterable[Handler]) -> list[Handler]:
        """Returns the handlers; those of inter-broker commands check the sender first."""
        return [h.wrapped(self._checked(h)) if h.api in INTER_BROKER_APIS else h for h in handlers]

    def _checked(self, handler: Handler) -> Handle:
        serve = handler.handle

        def handle(ctx: RequestContext, request: object) -> Result:
            connection = ctx.connection
            if connection.listener_name != self._listener:
                raise _not_a_broker(
                    ctx, f"only the inter-broker listener {self._listener} accepts it"
                )
            if self._is_broker_by_name(ctx) or self._is_fresh_broker_address(connection):
                return serve(ctx, request)
            return self._check_address(ctx, request, serve)

        return handle

    def _is_broker_by_name(self, ctx: RequestContext) -> bool:
        principal = ctx.connection.principal
        if principal == ANONYMOUS:
            return False
        if self._has_authorizer or principal in self._principals:
            return True
        if self._uses_sasl:
            raise _not_a_broker(ctx, f"{principal} is not a broker's user; super.users may list it")
        return False

    # --- addresses -------------------------------------------------------------------------

    def _is_fresh_broker_address(self, connection: ServerConnection) -> bool:
        age_ms = self._age_ms()
        known = connection.stream.peer[0] in self._addresses
        return known and age_ms is not None and age_ms < _VALID_MS

    async def _check_address(
        self, ctx: RequestContext, request: object, serve: Handle
    ) -> AvailableResult:
        address = ctx.connection.stream.peer[0]
        async with self._reading:
            if not self._is_fresh_broker_address(ctx.connection):
                await self._read_addresses()
        if not self._covers(address):
            raise _not_a_broker(ctx, f"{address} is not the address of a registered broker")
        result = serve(ctx, request)
        return await result if isinstance(result, Awaitable) else result

    def _covers(self, address: str) -> bool:
        if address in self._addresses:
            return True
        # Brokers on one machine: a connection to 127.0.1.1 has the source address 127.0.0.1.
        return _is_loopback(address) and any(map(_is_loopback, self._addresses))

    def _age_ms(self) -> int | None:
        return None if self._read_at_ms is None else self._clock.monotonic_ms() - self._read_at_ms

    async def _read_addresses(self) -> None:
        """Reads the addresses of the registrations; keeps the known ones if the tree does not
        respond.
        """
        age_ms = self._age_ms()
        if age_ms is not None and age_ms < _READ_INTERVAL_MS:
            return
        self._read_at_ms = self._clock.monotonic_ms()
        try:
            hosts = await self._registered_hosts()
        except TreeError as error:
            _logger.warning("the addresses of registered brokers cannot be read: %s", error)
            return
        found: set[str] = set()
        for host in hosts:
            found |= await _resolve(host)
        self._addresses = frozenset(found)

    async def _registered_hosts(self) -> set[str]:
        hosts: set[str] = set()
        for name in await self._tree.children(paths.BROKER_IDS):
            with contextlib.suppress(NoNodeError):  # the broker has left the cluster
                data, _ = await self._tree.get(f"{paths.BROKER_IDS}/{name}")
                hosts |= {endpoint.host for endpoint in BrokerNode.decode(data).endpoints}
        return hosts


def _not_a_broker(ctx: RequestContext, why: str) -> ConnectionClosedError:
    name = ApiKey(ctx.header.api_key).name
    return ConnectionClosedError(CloseReason.NOT_A_BROKER, f"{name} is for brokers: {why}")


def _protocol(config: BrokerConfig, listener: str) -> str:
    found = [e.security_protocol for e in config.listeners if e.listener == listener]
    return found[0] if found else "PLAINTEXT"


def _broker_principals(config: BrokerConfig, listener: str) -> frozenset[Principal]:
    """Returns the user with which this broker logs in on the listener, and the super users."""
    known = set(super_users(config.listener_value(listener, "super.users")))
    if not _protocol(config, listener).startswith("SASL"):
        return frozenset(known)
    # Start-up time: only listeners with SASL need it.
    from barnabas.broker.access.sasl_mechanisms import jaas_of

    mechanism = config["sasl.mechanism.inter.broker.protocol"].upper()
    entry = jaas_of(config, listener, mechanism)
    if entry is not None and entry.username is not None:
        known.add(Principal(USER, entry.username))
    return frozenset(known)


async def _resolve(host: str) -> set[str]:
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        _logger.warning("the host %r of a registered broker cannot be resolved: %s", host, error)
        return set()
    return {str(address[0]) for *_, address in found}


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return False
