"""The broker's security, put together; what `app` loads, starts and stops."""

from collections.abc import Iterable
from contextlib import AsyncExitStack
from functools import partial
from time import perf_counter_ns
from typing import TYPE_CHECKING

from barnabas.broker.access.acl_store import AclStore
from barnabas.broker.access.authorizer_config import make_authorizer
from barnabas.broker.access.client_entities import ClientEntities
from barnabas.broker.access.client_quotas import ClientQuotas
from barnabas.broker.access.connection_rates import ConnectionRates
from barnabas.broker.access.metering import metered
from barnabas.broker.access.muting import Muting
from barnabas.broker.access.request_quota import RequestQuota
from barnabas.broker.config import BrokerConfig
from barnabas.broker.handler import Handler
from barnabas.model.clock import Clock
from barnabas.net.server_connection import FrameHandler
from barnabas.security.quotas import Rate
from barnabas.zk.tree import MetadataTree

if TYPE_CHECKING:
    from barnabas.broker.access.listener_security import ListenerSecurity


class AccessSide:
    """Made with the broker, on whose loop it lives; ConfigError for settings that are wrong."""

    def __init__(self, config: BrokerConfig, clock: Clock) -> None:
        self._clock = clock
        self.authorizer = make_authorizer(config)
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
        self._entities: ClientEntities | None = None
        self.listeners = self._secure_listeners(config)

    @property
    def entities(self) -> ClientEntities:
        assert self._entities is not None, "not loaded yet"
        return self._entities

    async def load(self, tree: MetadataTree) -> None:
        """Read what the metadata tree says of users, quotas and rules."""
        self._entities = ClientEntities(tree, self._entities_changed)
        await self._entities.load()
        if any(listener.has_scram for listener in self.listeners.values()):
            await self._entities.load_decoy_secret()
        if self.authorizer is not None:
            self.acl_store = AclStore(tree, self.authorizer, self._clock)
            await self.acl_store.load()

    def start(self, stack: AsyncExitStack) -> None:
        """Follow changes from now on."""
        if self.acl_store is not None:
            self.acl_store.start()
            stack.push_async_callback(self.acl_store.stop)

    def handlers(self, handlers: Iterable[Handler]) -> list[Handler]:
        """The handlers behind quotas and, with an authorizer, behind guards.

        Without one nothing stands before a handler but a meter that is off.
        """
        served = list(handlers)
        if self.authorizer is not None:
            from barnabas.broker.access.guards.table import guarded

            served = guarded(served, self.authorizer)
        return metered(served, self.quotas, self._requests, self._muting)

    def timed(self, dispatch: FrameHandler) -> FrameHandler:
        """The dispatcher, with the time measured that each client takes of it."""
        return self._requests.timed(dispatch)

    async def reload_entity(self, entity_path: str) -> None:
        """Settings of a user, a client id or an address have changed."""
        await self.entities.reload(entity_path)

    def _secure_listeners(self, config: BrokerConfig) -> "dict[str, ListenerSecurity]":
        secure = [e for e in config.listeners if e.security_protocol != "PLAINTEXT"]
        if not secure:
            return {}
        from barnabas.broker.access.listener_security import ListenerSecurity

        return {
            endpoint.listener: ListenerSecurity(
                config, self._clock, endpoint, lambda: self.entities
            )
            for endpoint in secure
        }

    def _entities_changed(self) -> None:
        self.quotas.load(self.entities)
