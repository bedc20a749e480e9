"""The effect of the configuration on connections."""

import ssl

import pytest
import trustme

from barnabas.broker.access.wiring import AccessControl
from barnabas.broker.config import BrokerConfig
from barnabas.broker.config_layers import ConfigLayers
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


def test_a_secure_listener_is_never_served_in_the_clear():
    config = BrokerConfig.parse({"listeners": "SSL://localhost:0"})
    with pytest.raises(ConfigError, match="SSL has no settings for SSL"):
        Listeners(config, VirtualClock()).bind()
    with pytest.raises(ConfigError, match="needs a key and a certificate"):
        AccessControl(config, ConfigLayers(config), VirtualClock())


def test_a_protocol_that_does_not_exist():
    settings = {"listeners": "A://:1", "listener.security.protocol.map": "A:QUIC"}
    with pytest.raises(ConfigError, match="unknown protocol QUIC"):
        BrokerConfig.parse(settings)


def test_a_login_needs_no_certificate_unless_its_listener_requires_it(tmp_path):
    authority = trustme.CA()
    path = str(tmp_path / "broker.pem")
    authority.issue_cert("localhost").private_key_and_cert_chain_pem.write_to_path(path)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    settings = {
        "listeners": "SASL_SSL://:0",
        "sasl.enabled.mechanisms": "SCRAM-SHA-256",
        "ssl.keystore.location": path,
        "ssl.truststore.location": str(tmp_path / "ca.pem"),
        "ssl.client.auth": "required",
    }
    own = {"listener.name.sasl_ssl.ssl.client.auth": "required"}
    for more, mode in (({}, ssl.CERT_NONE), (own, ssl.CERT_REQUIRED)):
        config = BrokerConfig.parse({**settings, **more})
        (security,) = AccessControl(config, ConfigLayers(config), VirtualClock()).listeners.values()
        assert security.certificates.context.verify_mode is mode
