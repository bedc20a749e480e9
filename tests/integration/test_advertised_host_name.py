"""The address that a TLS listener with a host name advertises."""

import pytest
import trustme

from barnabas import Consumer, Producer
from barnabas.testing import Broker

pytestmark = pytest.mark.integration


def test_clients_reach_a_listener_whose_certificate_has_only_the_host_name(tmp_path):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    leaf = authority.issue_cert("localhost")
    leaf.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "broker.pem"))
    settings = {
        "listeners": "SSL://localhost:0",
        "security.inter.broker.protocol": "SSL",
        "ssl.keystore.location": str(tmp_path / "broker.pem"),
        "ssl.truststore.location": str(tmp_path / "ca.pem"),
    }
    with Broker(settings) as broker:
        client = {
            "bootstrap.servers": f"localhost:{broker.ports['SSL']}",
            "security.protocol": "SSL",
            "ssl.truststore.location": str(tmp_path / "ca.pem"),
        }
        with Producer(client) as producer:
            assert producer.send("orders", b"one").result(10).offset == 0
            leader = producer.partitions_for("orders")[0].leader
            assert (leader.host, leader.port) == ("localhost", broker.ports["SSL"])
        with Consumer(client, group_id="g", auto_offset_reset="earliest") as consumer:
            consumer.subscribe(["orders"])
            assert next(iter(consumer)).value == b"one"
