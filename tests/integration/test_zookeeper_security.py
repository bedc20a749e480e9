"""Brokers on a ZooKeeper with digest authentication, TLS and node ACLs, also on an ensemble."""

import asyncio
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from kazoo.client import KazooClient
from kazoo.exceptions import NoAuthError
from support.cluster.zookeeper import running_ensemble
from support.network.ports import unused_ports
from support.security.secure_broker import Certificates

from barnabas.aio import Admin, Producer
from barnabas.broker.app import Broker
from barnabas.broker.config import BrokerConfig
from barnabas.clients.connector.registry import connect_zookeeper
from barnabas.clients.connector.settings import ConnectorSettings
from barnabas.model.errors import BarnabasError, ConfigError, UnavailableError
from barnabas.zk.kazoo_tree import connect
from barnabas.zk.tree import SessionState
from barnabas.zk.zookeeper_security import ZooKeeperSecurity
from barnabas.zk.zookeeper_server import ServerConfig, ZooKeeperServer

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("zookeeper")]

LOGIN = ZooKeeperSecurity("brokers", "between-us", set_acl=True)


def stranger(hosts):
    """A client without a login."""
    client = KazooClient(hosts=hosts)
    client.start(60)
    return client


def broker_config(tmp_path, hosts, **more):
    return BrokerConfig.parse(
        {
            "broker.id": 1,
            "log.dirs": str(tmp_path / "data"),
            "listeners": "PLAINTEXT://127.0.0.1:0",
            "zookeeper.connect": hosts,
            "zookeeper.username": "brokers",
            "zookeeper.password": "between-us",
            "zookeeper.set.acl": True,
            "controlled.shutdown.enable": False,
            **more,
        }
    )


async def test_nodes_have_acls(zookeeper, tmp_path):
    hosts = f"{zookeeper.connect_string}/acls"
    broker = Broker(broker_config(tmp_path, hosts))
    await broker.start()
    try:
        async with Admin({"bootstrap.servers": f"127.0.0.1:{broker.port}"}) as admin:
            await admin.create_topic("orders")
        client = await asyncio.to_thread(stranger, hosts)
        try:
            assert client.get_children("/brokers/topics") == ["orders"]  # everybody may read
            for change in (
                lambda: client.set("/brokers/topics/orders", b"{}"),
                lambda: client.delete("/controller"),
                lambda: client.create("/brokers/topics/forged", b"{}"),
                lambda: client.create("/config/users/mallory", b"{}"),
                lambda: client.get_children("/config/users"),
                lambda: client.get_children("/config/brokers"),
            ):
                with pytest.raises(NoAuthError):
                    await asyncio.to_thread(change)
            await asyncio.to_thread(client.create, "/consumers/old-group")
            client.add_auth("digest", "brokers:between-us")
            assert client.get_children("/config/users") == []
        finally:
            await asyncio.to_thread(client.stop)
            client.close()
    finally:
        await broker.stop()


CREDENTIALS = {"zookeeper.username": "brokers", "zookeeper.password": "between-us"}


@pytest.fixture
async def protected(zookeeper, tmp_path):
    """A chroot with one node that only the brokers' user may read."""
    hosts = f"{zookeeper.connect_string}/{tmp_path.name}"
    tree = await connect(hosts, security=LOGIN)
    await tree.create("/config")
    await tree.create("/config/users")
    yield hosts
    await tree.close()


async def test_the_connector_authenticates(protected):
    config = {"zookeeper.connect": protected, "group.id": "g"}
    for more, allowed in (({}, False), (CREDENTIALS, True)):
        tree = await connect_zookeeper(ConnectorSettings.parse({**config, **more}))
        try:
            if allowed:
                assert await tree.children("/config/users") == []
            else:
                with pytest.raises(BarnabasError):
                    await tree.children("/config/users")
        finally:
            await tree.close()


async def test_the_shell_authenticates(protected, tmp_path):
    file = tmp_path / "zookeeper.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in CREDENTIALS.items()))
    command = [sys.executable, "-m", "barnabas.cli.main", "zookeeper", "shell"]
    for options, expected in (([], 1), (["-zk-tls-config-file", str(file)], 0)):
        done = await asyncio.to_thread(
            subprocess.run,
            [*command, *options, protected, "ls", "/config/users"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == expected, done.stderr
        assert "Traceback" not in done.stderr


async def test_without_the_setting_nodes_are_open(zookeeper):
    """Passes when a client without credentials may write the node."""
    tree = await connect(f"{zookeeper.connect_string}/open")
    await tree.create("/node")
    client = await asyncio.to_thread(stranger, f"{zookeeper.connect_string}/open")
    try:
        await asyncio.to_thread(client.set, "/node", b"x")
    finally:
        await asyncio.to_thread(client.stop)
        client.close()
        await tree.close()


def with_pkcs8_key(file):
    """Returns a copy of a PEM file with the private key in the only form that ZooKeeper reads."""
    content = Path(file).read_bytes()
    key = serialization.load_pem_private_key(content, None).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    copy = Path(f"{file}.pkcs8.pem")
    copy.write_bytes(key + content[content.index(b"-----BEGIN CERTIFICATE") :])
    return str(copy)


async def test_tls(tmp_path):
    certificates = Certificates(tmp_path)
    (port,) = unused_ports(1)
    server = ZooKeeperServer(
        ServerConfig(
            tmp_path / "zookeeper",
            tick_ms=250,
            other={
                "secureClientPort": str(port),
                "serverCnxnFactory": "org.apache.zookeeper.server.NettyServerCnxnFactory",
                "ssl.keyStore.location": with_pkcs8_key(certificates.broker),
                "ssl.keyStore.type": "PEM",
                "ssl.trustStore.location": certificates.ca,
                "ssl.trustStore.type": "PEM",
                "ssl.clientAuth": "need",
            },
        )
    )
    await server.start(60)
    settings = {
        "zookeeper.ssl.client.enable": True,
        "zookeeper.ssl.keystore.location": certificates.alice,
        "zookeeper.ssl.truststore.location": certificates.ca,
    }
    try:
        hosts = f"127.0.0.1:{port}"
        broker = Broker(broker_config(tmp_path, hosts, **settings))
        await broker.start()
        async with Producer({"bootstrap.servers": f"127.0.0.1:{broker.port}"}) as producer:
            await (await producer.send("t", b"x"))
        await broker.stop()
        wrong_ca = ZooKeeperSecurity(
            tls=True, key_file=certificates.alice, trust_file=certificates.other_ca
        )
        for security in (ZooKeeperSecurity(), wrong_ca):
            with pytest.raises(UnavailableError):
                await connect(hosts, connect_timeout_s=2, security=security)
    finally:
        await server.stop()


async def test_an_ensemble_loses_a_member(tmp_path):
    async with running_ensemble(tmp_path) as servers, AsyncExitStack() as stack:
        hosts = ",".join(server.connect_string for server in servers)
        broker = Broker(broker_config(tmp_path, hosts))
        stack.push_async_callback(broker.stop)
        await broker.start()
        tree = await connect(hosts, session_timeout_s=8, security=LOGIN)
        await tree.create("/kept", b"1")
        await servers[2].stop()
        async with Admin({"bootstrap.servers": f"127.0.0.1:{broker.port}"}) as admin:
            await admin.create_topic("after", timeout=60)
        await tree.set("/kept", b"2")  # authenticated on whichever member it reached
        assert tree.state is SessionState.CONNECTED
        client = await asyncio.to_thread(stranger, hosts)
        with pytest.raises(NoAuthError):
            await asyncio.to_thread(client.set, "/kept", b"3")
        await asyncio.to_thread(client.stop)
        client.close()
        await tree.close()


def test_settings_that_contradict():
    for given, text in (
        ({"zookeeper.username": "x"}, "must be set together"),
        ({"zookeeper.set.acl": True}, "needs zookeeper.username"),
    ):
        config = BrokerConfig.parse({"zookeeper.connect": "h:1", **given})
        with pytest.raises(ConfigError, match=text):
            ZooKeeperSecurity.of_broker(config.__getitem__)
    assert "between-us" not in repr(LOGIN)
