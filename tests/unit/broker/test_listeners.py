"""What the configuration means for connections."""

import pytest

from barnabas.broker.access.wiring import AccessSide
from barnabas.broker.config import BrokerConfig
from barnabas.broker.listeners import Listeners, connection_limits
from barnabas.model.errors import ConfigError
from barnabas.testing.virtual_clock import VirtualClock


def test_limits_follow_the_keys():
    limits = connection_limits(
        BrokerConfig.parse({"socket.request.max.bytes": 7, "connections.max.idle.ms": -1})
    )
    assert limits.max_frame_bytes == 7
    assert limits.idle_ms > 10**15
    assert limits.max_partial_bytes == 64 * 2**20


def test_dynamic_values_win():
    config = BrokerConfig.parse({"max.connections": 5})
    limits = connection_limits(config, {"max.connections": 9, "max.connections.per.ip": 2}.get)
    assert (limits.max_connections, limits.max_connections_per_ip) == (9, 2)


def test_a_secure_listener_is_never_served_in_the_clear():
    config = BrokerConfig.parse({"listeners": "SSL://localhost:0"})
    with pytest.raises(ConfigError, match="SSL would be served in the clear"):
        Listeners(config, VirtualClock()).bind()
    with pytest.raises(ConfigError, match="needs a key and a certificate"):
        AccessSide(config, VirtualClock())


def test_a_protocol_that_does_not_exist():
    settings = {"listeners": "A://:1", "listener.security.protocol.map": "A:QUIC"}
    with pytest.raises(ConfigError, match="there is no QUIC"):
        BrokerConfig.parse(settings)
