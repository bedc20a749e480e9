"""The ZooKeeper server's configuration, and the error if it cannot run."""

import importlib.util

import pytest

from barnabas.model.errors import LocalError
from barnabas.zk import zookeeper_server
from barnabas.zk.zookeeper_server import ServerConfig, ZooKeeperServer, find_jars

FIRST_EPHEMERAL_PORT = 32_768
"""The operating system gives ports from here on to outgoing connections."""


def test_a_single_server_has_no_members(tmp_path):
    text = ServerConfig(tmp_path, tick_ms=200).render(2181)
    lines = set(text.splitlines())
    assert {f"dataDir={tmp_path}", "clientPort=2181", "tickTime=200"} <= lines
    assert "admin.enableServer=false" in lines
    assert "server." not in text


def test_the_members_of_an_ensemble_are_listed(tmp_path):
    members = {1: "127.0.0.1:1:2", 2: "127.0.0.1:3:4"}
    lines = ServerConfig(tmp_path, members=members).render(1).splitlines()
    assert "server.1=127.0.0.1:1:2" in lines
    assert "server.2=127.0.0.1:3:4" in lines


def test_missing_pyspark_is_reported(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(LocalError, match="PySpark"):
        find_jars()


async def test_a_chosen_port_is_not_taken_before_the_server_listens(tmp_path, monkeypatch):
    monkeypatch.setattr(zookeeper_server, "find_java", lambda _: "java")
    monkeypatch.setattr(zookeeper_server, "find_jars", lambda: tmp_path)
    monkeypatch.setattr(zookeeper_server, "spawn", lambda *_, **__: None)
    for _ in range(5):
        server = ZooKeeperServer(ServerConfig(tmp_path))
        await server.launch()
        assert 1024 < server.port < FIRST_EPHEMERAL_PORT
