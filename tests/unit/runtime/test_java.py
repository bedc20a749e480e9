"""The choice of the Java command, and the error without one."""

import pytest

from barnabas.model.errors import LocalError
from barnabas.runtime.java import find_java, unsuitable_java


@pytest.fixture
def java_home(monkeypatch, tmp_path):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.touch(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    return tmp_path


def test_missing_java_is_reported(monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(LocalError, match="ZooKeeper needs Java 17 or newer: no `java`"):
        find_java("ZooKeeper")


def test_java_home_comes_first(java_home):
    assert find_java("ZooKeeper") == str(java_home / "bin" / "java")


def test_a_java_that_starts_nothing(java_home):
    assert str(unsuitable_java("Spark")) == (
        f"Spark did not start with {java_home}/bin/java: it needs Java 17 or newer"
    )


def test_a_java_home_without_java(java_home, monkeypatch):
    monkeypatch.setenv("PATH", str(java_home / "bin"))
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    assert "JAVA_HOME is /nowhere, which has no java" in str(unsuitable_java("Spark"))
