"""Buffer sizes and name lookup of client connections, seen on real sockets."""

import gc
import socket

import pytest

from barnabas import Consumer, Producer
from barnabas.clients.core.options import canonical_addresses
from barnabas.clients.simple import SimpleConsumer
from barnabas.model.errors import ConfigError, UnavailableError
from barnabas.net.connection_options import Address
from barnabas.runtime.child_process import free_port

pytestmark = pytest.mark.integration

SIZES = {"send.buffer.bytes": "20000", "receive.buffer.bytes": "30000"}


def buffers(broker):
    """The buffer sizes of this process's connections to the broker; Linux shows twice the size."""
    found = set()
    for sock in [item for item in gc.get_objects() if isinstance(item, socket.socket)]:
        if sock.family not in (socket.AF_INET, socket.AF_INET6):
            continue
        try:
            port = sock.getpeername()[1]
        except OSError:
            continue
        if port != broker.port:
            continue
        sizes = (socket.SO_SNDBUF, socket.SO_RCVBUF)
        found.add(tuple(sock.getsockopt(socket.SOL_SOCKET, option) // 2 for option in sizes))
    return found


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("client", [Producer, Consumer, SimpleConsumer])
def test_buffer_sizes_are_set(broker, client, host):
    topic = broker.topic()
    settings = {"bootstrap.servers": f"{host}:{broker.port}", **SIZES}
    with client(settings) as opened:
        if client is SimpleConsumer:
            opened.partitions(topic)
        else:
            opened.partitions_for(topic)
        assert (20_000, 30_000) in buffers(broker)


def test_without_sizes_the_system_decides(broker):
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        producer.send(broker.topic(), b"x").result(60)
        assert (20_000, 30_000) not in buffers(broker)


def test_a_refused_connection_is_told_with_sizes_too():
    settings = {
        "bootstrap.servers": f"127.0.0.1:{free_port()}",
        **SIZES,
        "default.api.timeout.ms": 500,
    }
    with SimpleConsumer(settings) as consumer, pytest.raises(UnavailableError, match="refused"):
        consumer.partitions("t")


def test_canonical_names(broker):
    settings = {
        "bootstrap.servers": broker.bootstrap_servers,
        "client.dns.lookup": "resolve_canonical_bootstrap_servers_only",
    }
    with Producer(settings) as producer:
        producer.send(broker.topic(), b"x").result(60)
    expected = Address(socket.getfqdn("127.0.0.1"), 1)
    assert canonical_addresses([Address("127.0.0.1", 1)]) == [expected]
    with pytest.raises(ConfigError, match=r"'no\.such\.host\.invalid' cannot be resolved"):
        canonical_addresses([Address("no.such.host.invalid", 1)])
