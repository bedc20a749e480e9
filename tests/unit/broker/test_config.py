"""BrokerConfig: what follows from the keys."""

import pytest

from barnabas.broker.config import BrokerConfig
from barnabas.model.control import Endpoint
from barnabas.model.errors import ConfigError


def test_without_settings_the_broker_listens_on_9092_without_an_id():
    config = BrokerConfig.parse({})
    assert config.listeners == [Endpoint("PLAINTEXT", "", 9092)]
    assert config.advertised_listeners is None
    assert config.broker_id == -1


def test_old_keys_for_the_address_hold_while_listeners_is_unset():
    assert BrokerConfig.parse({"port": 9}).listeners == [Endpoint("PLAINTEXT", "", 9)]
    both = BrokerConfig.parse({"port": 9, "listeners": "PLAINTEXT://h:1"})
    assert both.listeners == [Endpoint("PLAINTEXT", "h", 1)]
    old = BrokerConfig.parse({"advertised.host.name": "out", "port": 9})
    assert old.advertised_listeners == [Endpoint("PLAINTEXT", "out", 9)]


def test_named_listeners_take_their_protocol_from_the_map():
    config = BrokerConfig.parse(
        {
            "listeners": "INSIDE://[::1]:1,OUTSIDE://:2",
            "listener.security.protocol.map": "INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT",
        }
    )
    assert config.listeners[0] == Endpoint("INSIDE", "::1", 1)
    assert config.inter_broker_listener == "INSIDE"


@pytest.mark.parametrize("listeners", ["localhost:9092", "PLAINTEXT://h", "X://h:1", "SSL://h:x"])
def test_an_unusable_listener_is_named(listeners):
    with pytest.raises(ConfigError, match="listeners="):
        BrokerConfig.parse({"listeners": listeners})


def test_log_dirs_win_over_log_dir():
    assert [str(path) for path in BrokerConfig.parse({"log.dir": "/a"}).log_dirs] == ["/a"]
    both = BrokerConfig.parse({"log.dir": "/a", "log.dirs": "/b, /c"})
    assert [str(path) for path in both.log_dirs] == ["/b", "/c"]


def test_zero_connections_per_address_are_rejected():
    with pytest.raises(ConfigError, match=r"max\.connections\.per\.ip=0: no client can connect"):
        BrokerConfig.parse({"max.connections.per.ip": 0})


def test_the_representation_has_no_secrets():
    """Tracebacks with local variables print it."""
    config = BrokerConfig.parse({"ssl.key.password": "hunter2", "broker.id": 3})
    assert "hunter2" not in repr(config)
    assert "ssl.key.password" in repr(config)


def test_a_tls_listener_with_a_host_name_advertises_it():
    """Clients compare the name with the certificate; an IP address would be rejected."""
    settings = {"listeners": "SSL://b-1.example.org:1,SASL_SSL://10.0.0.1:2,PLAINTEXT://b-1:3"}
    config = BrokerConfig.parse(settings)
    assert config.connected_address_listeners == {"SASL_SSL", "PLAINTEXT"}
    assert BrokerConfig.parse({"listeners": "SSL://:1"}).connected_address_listeners == {"SSL"}
    advertised = {**settings, "advertised.listeners": "PLAINTEXT://out:9"}
    assert BrokerConfig.parse(advertised).connected_address_listeners == frozenset()
