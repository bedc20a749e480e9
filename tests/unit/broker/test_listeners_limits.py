"""ConnectionCaps: limits as the configuration has them, and names that have to be looked up."""

import asyncio
import socket

import pytest

from barnabas.broker import listeners
from barnabas.broker.config import BrokerConfig
from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.listeners import ConnectionCaps
from barnabas.model.errors import ConfigError
from barnabas.net.admission import SlotLimits

TWO = {
    "listeners": "INTERNAL://:0,CLIENT://:0",
    "listener.security.protocol.map": "INTERNAL:PLAINTEXT,CLIENT:PLAINTEXT",
}
OVERRIDES = "max.connections.per.ip.overrides"


class FakeRates:
    def limit(self, *limits):
        self.limits = limits


@pytest.fixture
def caps(monkeypatch):
    """Caps of a configuration, where only one name is known."""

    def look_up(host, _port, **_options):
        if host != "known":
            raise socket.gaierror(-2, "Name or service not known")
        return [(2, 1, 6, "", ("10.0.0.1", 0)), (10, 1, 6, "", ("::ffff:10.0.0.2", 0, 0, 0))]

    monkeypatch.setattr(listeners.socket, "getaddrinfo", look_up)

    def make(settings):
        config = BrokerConfig.parse(settings)
        layers = ConfigLayers(config)
        made = ConnectionCaps(config, layers, FakeRates())
        made.check()
        return made, layers

    return make


def limits(caps):
    return caps.admission._slots.limits


def test_limits_follow_the_keys(caps):
    made, _ = caps(
        {
            **TWO,
            "max.connections": 9,
            "max.connections.per.ip": 4,
            "listener.name.client.max.connections": 5,
            OVERRIDES: "known:2,0:0:0::1:3",
        }
    )
    made.apply()
    of_ips = {"10.0.0.1": 2, "10.0.0.2": 2, "::1": 3}
    assert limits(made) == SlotLimits(9, {"CLIENT": 5}, 4, of_ips)


async def test_dynamic_values_win(caps):
    made, layers = caps({**TWO, "max.connections": 9, "listener.name.client.max.connections": 5})
    layers.set_default({"max.connections": "8", "listener.name.internal.max.connections": "7"})
    layers.set_broker({OVERRIDES: "known:1", "listener.name.client.max.connections": "6"})
    made.apply()
    assert limits(made).of_ips == {}
    async with asyncio.timeout(60):
        await made._lookup
    of_ips = {"10.0.0.1": 1, "10.0.0.2": 1}
    assert limits(made) == SlotLimits(8, {"INTERNAL": 7, "CLIENT": 6}, 2**31 - 1, of_ips)


def test_rates_have_limits_too(caps):
    key = "max.connection.creation.rate"
    made, layers = caps({**TWO, key: 9, f"listener.name.client.{key}": 5})
    made.apply()
    assert made._rates.limits == (9, {"CLIENT": 5})
    layers.set_default({f"listener.name.internal.{key}": "3"})
    made.apply()
    assert made._rates.limits == (9, {"CLIENT": 5, "INTERNAL": 3})


def test_a_host_without_an_address_is_an_error_at_start(caps):
    with pytest.raises(ConfigError, match=r"per\.ip\.overrides: 'nobody': Name or service not"):
        caps({OVERRIDES: "nobody:1"})


async def test_an_override_for_an_unknown_host_is_ignored_and_logged(caps, caplog):
    made, layers = caps({})
    layers.set_broker({OVERRIDES: "nobody:1,known:2"})
    made.apply()
    async with asyncio.timeout(60):
        await made._lookup
    await made.stop()
    assert "per.ip.overrides: 'nobody' is ignored: Name or service not known" in caplog.text
    assert limits(made).of_ips == {"10.0.0.1": 2, "10.0.0.2": 2}


@pytest.mark.parametrize(
    ("settings", "protected"),
    [(TWO, "INTERNAL"), ({**TWO, "inter.broker.listener.name": "client"}, "CLIENT"), ({}, None)],
)
def test_the_listener_of_brokers_is_protected_beside_another(caps, settings, protected):
    made, _ = caps(settings)
    assert made.admission._slots.protected == protected
