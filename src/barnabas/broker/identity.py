"""Cluster id, broker id and registered addresses of this broker."""

import socket
from collections.abc import Sequence
from dataclasses import dataclass

from barnabas.broker.config import BrokerConfig
from barnabas.controller.registration import cluster_id, ensure_roots, generate_broker_id
from barnabas.model.control import Endpoint
from barnabas.model.errors import ConfigError
from barnabas.model.ids import BrokerId
from barnabas.storage.log_manager import LogManager
from barnabas.zk.tree import MetadataTree

_ANY_HOSTS = frozenset({"", "0.0.0.0", "::"})


@dataclass(frozen=True, slots=True)
class Identity:
    """Fixed for the life of a broker."""

    broker_id: BrokerId
    cluster_id: str


async def establish(config: BrokerConfig, tree: MetadataTree, logs: LogManager) -> Identity:
    """Reads or generates both ids and writes them to the log directories."""
    await ensure_roots(tree)
    cluster = await cluster_id(tree)
    wanted = config["cluster.id"]
    if wanted is not None and wanted != cluster:
        raise ConfigError(f"cluster.id={wanted!r}: the cluster id is {cluster!r}")
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
