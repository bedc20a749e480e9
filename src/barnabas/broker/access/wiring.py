"""Creates the security parts of a broker, which `app` loads, starts and stops."""

from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from time import perf_counter_ns
from typing import TYPE_CHECKING

from barnabas.broker.access.access import Authorizers
from barnabas.broker.access.acl_store import AclStore
from barnabas.broker.access.audit import RequestAuditLog
from barnabas.broker.access.client_entities import ClientEntities
from barnabas.broker.access.client_quotas import ClientQuotas
from barnabas.broker.access.delegation_tokens import DelegationTokens, TokenSettings
from barnabas.broker.access.listener_security import FILE_CHECK_MS, ClientCertificates
from barnabas.broker.access.metering import RequestQuota, metered
from barnabas.broker.access.throttling import ConnectionRates, Muting
from barnabas.broker.config import BrokerConfig
from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.handler import Handler
from barnabas.broker.tasks import PeriodicJobs
from barnabas.net.server_connection import FrameHandler
from barnabas.net.tls_context import ReloadableClientContext
from barnabas.runtime.clock import Clock
from barnabas.security.quotas import Rate
from barnabas.zk.tree import MetadataTree

if TYPE_CHECKING:
    from barnabas.broker.access.listener_security import ListenerSecurity


class AccessControl:
    """Security of one broker; owned by its loop. Raises ConfigError for invalid settings."""

    def __init__(self, config: BrokerConfig, layers: ConfigLayers, clock: Clock) -> None:
        self._layers = layers
        self._jobs = PeriodicJobs()
        self._inter_broker_listener = config.inter_broker_listener
        self._client_certificates: ClientCertificates | None = None
        self._clock = clock
        self.authorizers = Authorizers.from_config(config)
        self.audit = RequestAuditLog(config, clock)
        measure = {
            "samples": config["quota.window.num"],
            "window_ms": config["quota.window.size.seconds"] * 1000,
        }
        self.quotas = ClientQuotas(clock, **measure)
        self._muting = Muting(clock)
        self._requests = RequestQuota(self.quotas.requests, self._muting, perf_counter_ns)
        self.connection_rates = ConnectionRates(
            self.quotas.connections,
            clock,
            partial(Rate, **measure),
            config.protected_listener,
        )
        self.acl_store: AclStore | None = None
        self._token_settings = TokenSettings.of(config)
        self.delegation_tokens: DelegationTokens | None = None
        self._entities: ClientEntities | None = None
        self.listeners = self._secure_listeners(config)

    @property
    def entities(self) -> ClientEntities:
        assert self._entities is not None, "not loaded yet"
        return self._entities

    async def load(self, tree: MetadataTree) -> None:
        """Reads users, quotas, tokens and ACLs from the metadata tree."""
        self._entities = ClientEntities(tree, self._entities_changed)
        await self._entities.load()
        if any(listener.has_scram for listener in self.listeners.values()):
            await self._entities.load_decoy_secret()
        if self._token_settings is not None:
            self.delegation_tokens = DelegationTokens(tree, self._token_settings, self._clock)
            await self.delegation_tokens.load()
        if self.authorizers.all:
            self.acl_store = AclStore(tree, self.authorizers.all, self._clock)
            await self.acl_store.load()

    def start(self, stack: AsyncExitStack) -> None:
        """Starts to follow changes."""
        self.audit.open(stack)
        if any(listener.certificates is not None for listener in self.listeners.values()):
            self._jobs.every(FILE_CHECK_MS, "certificates", self.reload_certificates)
            stack.push_async_callback(self._jobs.stop)
        if self.acl_store is not None:
            self.acl_store.start()
            stack.push_async_callback(self.acl_store.stop)
        if self.delegation_tokens is not None:
            self.delegation_tokens.start()
            stack.push_async_callback(self.delegation_tokens.stop)

    def handlers(self, handlers: Iterable[Handler]) -> list[Handler]:
        """Returns the handlers behind quotas, authorization and the audit log, as configured."""
        served = list(handlers)
        if self.authorizers.all:
            # Start-up time: only a broker with ACLs needs the rules of all APIs.
            from barnabas.broker.access.authorization.table import authorized

            served = authorized(served, self.authorizers)
        return self.audit.audited(metered(served, self.quotas, self._requests, self._muting))

    def timed(self, dispatch: FrameHandler) -> FrameHandler:
        """Returns the dispatcher with the time of each client measured."""
        return self._requests.timed(dispatch)

    def follow_certificates(self, context: ReloadableClientContext | None) -> None:
        """Keeps the context of connections to other brokers equal to the inter-broker listener."""
        listener = self.listeners.get(self._inter_broker_listener)
        if context is not None and listener is not None and listener.certificates is not None:
            self._client_certificates = ClientCertificates(context, listener.certificates)

    def check_certificates(self, changed: Mapping[str, str]) -> None:
        """Raises ConfigError if a listener could not use these dynamic values of the broker."""
        for listener in self.listeners.values():
            if listener.certificates is not None:
                listener.certificates.check(changed)

    def reload_certificates(self) -> None:
        """Applies changed files and settings of certificates to new connections."""
        for name, listener in self.listeners.items():
            if listener.certificates is None or not listener.certificates.reload():
                continue
            if name == self._inter_broker_listener and self._client_certificates is not None:
                self._client_certificates.reload()

    async def reload_entity(self, entity_path: str) -> None:
        """Applies changed settings of a user, a client id or an address."""
        await self.entities.reload(entity_path)

    def _secure_listeners(self, config: BrokerConfig) -> "dict[str, ListenerSecurity]":
        secure = [e for e in config.listeners if e.security_protocol != "PLAINTEXT"]
        if not secure:
            return {}
        # Start-up time: a plaintext listener needs neither TLS nor SASL.
        from barnabas.broker.access.listener_security import ListenerSecurity

        return {
            endpoint.listener: ListenerSecurity(
                self._layers,
                self._clock,
                endpoint,
                lambda: self.entities,
                lambda: self.delegation_tokens,
                self.audit.authentication_failed,
            )
            for endpoint in secure
        }

    def _entities_changed(self) -> None:
        self.quotas.load(self.entities)
