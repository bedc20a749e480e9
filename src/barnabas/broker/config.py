"""Static configuration of a broker: Kafka's keys, parsed, and values derived from them.

Keys can be set for single listeners: `listener.name.<name>.<key>`, and
`<mechanism>.sasl.jaas.config`. `config_layers.ConfigLayers` provides the values that may change
while the broker runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from barnabas.model.config import ConfigKey, ConfigTable, ConfigType, ConfigValues, closed_to_all
from barnabas.model.config_keys.broker import BROKER_KEYS
from barnabas.model.config_keys.security import LISTENER_KEYS, SASL_KEYS, SECURITY_PROTOCOLS
from barnabas.model.control import Endpoint
from barnabas.model.errors import ConfigError

_PREFIX = "listener.name."
_JAAS = "sasl.jaas.config"
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
_BY_MECHANISM = frozenset(f"{name.lower()}.{_JAAS}" for name in MECHANISMS)
_JAAS_KEY = ConfigTable(SASL_KEYS)[_JAAS]
_LIMITS = (BROKER_KEYS["max.connections"], BROKER_KEYS["max.connection.creation.rate"])
# As in Kafka, certificates can be changed while the broker runs, but only of single listeners.
_DYNAMIC_TLS = ("ssl.keystore.", "ssl.truststore.", "ssl.key.password")
_AUTHORIZER_KEYS = ("authorizer.class.name", "super.users", "allow.everyone.if.no.acl.found")
_OWN_KEYS = ConfigTable(
    [
        *(BROKER_KEYS[name] for name in _AUTHORIZER_KEYS),
        *(replace(k, dynamic=k.name.startswith(_DYNAMIC_TLS)) for k in LISTENER_KEYS),
        *_LIMITS,
    ]
)
DEFAULT_PORT = 9092


def split_listener_keys(given: Mapping[str, object]) -> tuple[dict[str, object], dict[str, Any]]:
    """Returns the keys for all listeners, and the parsed keys for single listeners.

    >>> split_listener_keys({"port": 1, "listener.name.X.ssl.client.auth": "required"})
    ({'port': 1}, {'listener.name.x.ssl.client.auth': 'required'})
    """
    common: dict[str, object] = {}
    own: dict[str, Any] = {}
    for name, value in given.items():
        if name.startswith(_PREFIX):
            key = broker_key(name)
            own[key.name] = key.parse(value)
        else:
            common[name] = value
    return common, own


def broker_key(name: str) -> ConfigKey:
    """Returns a broker key, or a listener key with its full name; raises ConfigError if unknown.

    >>> broker_key("listener.name.X.max.connections").name
    'listener.name.x.max.connections'
    """
    if not name.startswith(_PREFIX):
        return BROKER_KEYS.key(name)
    listener, _, key = name.removeprefix(_PREFIX).partition(".")
    try:
        found = replace(_JAAS_KEY, name=key) if key in _BY_MECHANISM else _OWN_KEYS.key(key)
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from None
    # No default: the broker's value applies to a listener without a value.
    return replace(found, name=listener_key_name(listener, found.name), default=None)


def any_broker_key(name: str) -> ConfigKey:
    """Returns a broker key, or a key for an unknown name (of a plugin, or a typo).

    Values of unknown keys are kept unchanged, and are treated as sensitive.
    """
    try:
        return broker_key(name)
    except ConfigError:
        return ConfigKey(name, ConfigType.UNKNOWN, None, "")


def listener_key_name(listener: str, key: str) -> str:
    """Returns the full name of a listener's key."""
    return f"{_PREFIX}{listener.lower()}.{key}"


@dataclass(frozen=True, slots=True)
class BrokerConfig:
    """The parsed configuration of a broker.

    `values` has every key; `given` has the keys that the user set, with or without listener.
    """

    values: ConfigValues = field(repr=False)  # has passwords, and a traceback may show it
    given: frozenset[str]

    @classmethod
    def parse(cls, given: Mapping[str, object]) -> "BrokerConfig":
        """Parses Kafka's keys; raises ConfigError with the key and the reason."""
        common, own = split_listener_keys(given)
        names = BROKER_KEYS.given(common)
        config = cls({**BROKER_KEYS.parse(common), **own}, frozenset(names | own.keys()))
        # Reject invalid listeners here, not at their first use.
        _ = config.listeners, config.advertised_listeners, config.inter_broker_listener
        problem = closed_to_all(
            config["max.connections.per.ip"], config["max.connections.per.ip.overrides"]
        )
        if problem is not None:
            raise ConfigError(problem)
        return config

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def broker_id(self) -> int:
        """The configured id, or -1 when one is to be generated or found on disk."""
        node_id = self.values["node.id"]
        return int(self.values["broker.id"] if node_id is None else node_id)

    @property
    def log_dirs(self) -> list[Path]:
        names = self.values["log.dirs"] or [self.values["log.dir"]]
        return [Path(name).expanduser() for name in names]

    @property
    def listeners(self) -> list[Endpoint]:
        """The addresses to listen on. An empty host means all interfaces."""
        if "listeners" not in self.given and not self.given.isdisjoint({"port", "host.name"}):
            port = self.values["port"]
            host = self.values["host.name"] or ""
            return [Endpoint("PLAINTEXT", host, DEFAULT_PORT if port is None else port)]
        return [self._endpoint("listeners", text) for text in self.values["listeners"]]

    @property
    def advertised_listeners(self) -> list[Endpoint] | None:
        """The configured advertised addresses; None: see `connected_address_listeners`."""
        texts = self.values["advertised.listeners"]
        if texts:
            return [self._endpoint("advertised.listeners", text) for text in texts]
        host = self.values["advertised.host.name"]
        if not host:
            return None
        port = self.values["advertised.port"]
        bound = self.listeners[0]
        return [Endpoint(bound.listener, host, bound.port if port is None else port)]

    @property
    def connected_address_listeners(self) -> frozenset[str]:
        """The listeners whose clients get the address they connected to as that of this broker.

        None if addresses are advertised. A TLS listener with a host name advertises that name,
        because clients compare it with the certificate.
        """
        if self.advertised_listeners is not None:
            return frozenset()
        return frozenset(
            endpoint.listener
            for endpoint in self.listeners
            if not (endpoint.security_protocol.endswith("SSL") and _is_host_name(endpoint.host))
        )

    @property
    def inter_broker_listener(self) -> str:
        """The listener name that other brokers connect to."""
        name = self.values["inter.broker.listener.name"]
        protocol = self.values["security.inter.broker.protocol"]
        if name and protocol:
            raise ConfigError(
                "set inter.broker.listener.name or security.inter.broker.protocol, not both"
            )
        if protocol:
            found = [e.listener for e in self.listeners if e.security_protocol == protocol]
            if not found:
                raise ConfigError(
                    f"security.inter.broker.protocol={protocol!r}: no listener has it"
                )
            return found[0]
        return name.upper() if name else self.listeners[0].listener

    @property
    def protected_listener(self) -> str | None:
        """The inter-broker listener, if clients have a separate listener (KIP-402)."""
        return self.inter_broker_listener if len(self.listeners) > 1 else None

    def listener_value(self, listener: str, key: str) -> Any:
        """Returns the value for one listener, by default the broker's value."""
        own = listener_key_name(listener, key)
        return self.values[own] if own in self.given else self.values.get(key)

    def _endpoint(self, key: str, text: str) -> Endpoint:
        name, separator, address = text.strip().partition("://")
        host, colon, port = address.rpartition(":")
        if not separator or not colon or not port.isdigit() or int(port) > 65535:
            raise ConfigError(f"{key}={text!r}: must look like PLAINTEXT://host:9092")
        name = name.upper()
        protocols = dict(
            item.upper().split(":", 1) for item in self.values["listener.security.protocol.map"]
        )
        if name not in protocols:
            raise ConfigError(f"{key}={text!r}: {name} is not in listener.security.protocol.map")
        if protocols[name] not in SECURITY_PROTOCOLS:
            raise ConfigError(f"listener.security.protocol.map: unknown protocol {protocols[name]}")
        return Endpoint(name, host.strip("[]"), int(port), protocols[name])


def _is_host_name(host: str) -> bool:
    """Returns whether the host of a listener is neither empty nor an IP address."""
    try:
        ip_address(host)
    except ValueError:
        return host != ""
    return False
