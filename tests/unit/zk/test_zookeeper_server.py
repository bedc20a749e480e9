"""The ZooKeeper server's configuration, and what is said when it cannot run."""

import importlib.util

import pytest

from barnabas.model.errors import LocalError
from barnabas.zk.zookeeper_server import ServerConfig, find_jars


def test_configuration(tmp_path):
    text = ServerConfig(tmp_path, tick_ms=200).render(2181)
    lines = set(text.splitlines())
    assert {f"dataDir={tmp_path}", "clientPort=2181", "tickTime=200"} <= lines
    assert "admin.enableServer=false" in lines
    assert "server." not in text


def test_ensemble(tmp_path):
    members = {1: "127.0.0.1:1:2", 2: "127.0.0.1:3:4"}
    lines = ServerConfig(tmp_path, members=members).render(1).splitlines()
    assert "server.1=127.0.0.1:1:2" in lines
    assert "server.2=127.0.0.1:3:4" in lines


def test_missing_pyspark_is_said(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(LocalError, match="PySpark"):
        find_jars()
