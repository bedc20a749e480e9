"""A broker that starts while ZooKeeper is away, or whose session ends while it starts."""

import asyncio
import logging
import signal
import subprocess
import sys

import pytest
from support.cluster.broker_app import until

from barnabas.broker.app import Broker
from barnabas.broker.config import BrokerConfig
from barnabas.runtime.child_process import free_port
from barnabas.runtime.clock import SystemClock
from barnabas.zk.embedded_session import EmbeddedTree
from barnabas.zk.sqlite_tree import EmbeddedStore
from barnabas.zk.tree import SessionState

pytestmark = pytest.mark.integration


class ExpiringTree(EmbeddedTree):
    """A session that ends at one of its operations, and is followed by another as in kazoo."""

    def __init__(self, store, expire_at):
        super().__init__(store)
        self._expire_at = expire_at
        self.operations = 0
        self.expired = False
        self._expiry = None

    def _check_readable(self):
        self.operations += 1
        if self.operations == self._expire_at:
            self.expired = True
            self._become(SessionState.LOST)
            self._expiry = asyncio.ensure_future(self._end())
        super()._check_readable()

    async def _end(self):
        await self._store.write(self._session_id, None)
        if self._state is SessionState.LOST:
            self.reconnect()


class ExpiringStore(EmbeddedStore):
    """Its first session expires; later ones live."""

    def __init__(self, expire_at):
        super().__init__(SystemClock())
        self._expire_at = expire_at
        self.opened = []

    def session(self):
        first = not self.opened
        self.opened.append(ExpiringTree(self, self._expire_at if first else 0))
        return self.opened[-1]


def config(directory, **settings):
    given = {"listeners": "PLAINTEXT://127.0.0.1:0", "log.dirs": str(directory), **settings}
    return BrokerConfig.parse(given)


async def count_operations(directory):
    store = ExpiringStore(0)
    broker = Broker(config(directory), store=store)
    await broker.start()
    operations = store.opened[0].operations
    await broker.stop()
    await store.close()
    return operations


async def test_a_session_may_expire_at_any_operation_of_the_start(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("barnabas.broker.app._RESTART_S", 0.0)
    monkeypatch.setattr("barnabas.broker.app._FIRST_COMMANDS_MS", 1_000)
    caplog.set_level(logging.WARNING)
    operations = await count_operations(tmp_path / "0")
    assert operations > 10
    for number in range(1, operations + 1):
        store = ExpiringStore(number)
        broker = Broker(config(tmp_path / str(number)), store=store)
        await asyncio.wait_for(broker.start(), 30)
        services = broker.services
        await until(lambda b=services: b.metadata.is_alive(b.broker_id))
        await broker.stop()
        await store.close()
    assert "Traceback" not in caplog.text
    assert not [record for record in caplog.records if record.exc_info]


def test_a_broker_waits_for_zookeeper_and_ends_by_a_signal(tmp_path):
    command = [sys.executable, "-m", "barnabas.cli.main", "broker", "--config"]
    properties = tmp_path / "server.properties"
    properties.write_text(
        f"listeners=PLAINTEXT://127.0.0.1:0\nlog.dirs={tmp_path / 'data'}\n"
        f"zookeeper.connect=127.0.0.1:{free_port()}\nzookeeper.connection.timeout.ms=300\n"
    )
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([*command, str(properties)], **pipes) as broker:
        lines = iter(broker.stderr)
        told = [line for line, _ in zip(_told(lines), range(2), strict=False)]
        broker.send_signal(signal.SIGTERM)
        rest = broker.stderr.read()
        assert broker.wait(30) == 0
    assert len(told) == 2
    assert "no ZooKeeper server at 127.0.0.1" in told[0]
    assert "Traceback" not in rest


def _told(lines):
    return (line for line in lines if "cannot start yet" in line)


@pytest.mark.xdist_group("zookeeper")
async def test_a_broker_starts_when_zookeeper_answers_again(zookeeper, tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    settings = {
        "zookeeper.connect": f"{zookeeper.connect_string}/late",
        "zookeeper.connection.timeout.ms": 1000,
        # An attempt that got no answer is given up after a session's time.
        "zookeeper.session.timeout.ms": 3000,
    }
    zookeeper.pause()
    try:
        broker = Broker(config(tmp_path, **settings))
        starting = asyncio.ensure_future(broker.start())
        await until(lambda: "cannot start yet" in caplog.text)
    finally:
        zookeeper.resume()
    await asyncio.wait_for(starting, 60)
    assert broker.services.metadata.is_alive(broker.services.broker_id)
    await broker.stop()
