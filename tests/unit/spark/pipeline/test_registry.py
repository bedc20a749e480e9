"""What is known of pipelines that ran, while they run and after."""

import subprocess
import sys

import pytest

from barnabas.model.errors import LocalError
from barnabas.spark.pipeline.registry import DIED, RUNNING, STOPPED, Registry


def test_a_running_one_is_running_and_cannot_run_twice(tmp_path):
    registry = Registry(tmp_path)
    with registry.running("p"):
        registry.write("p", {"name": "p", "state": RUNNING})
        assert Registry(tmp_path).read("p")["state"] == RUNNING
        with pytest.raises(LocalError, match="running already"), registry.running("p"):
            pass
    assert registry.read("p")["state"] == DIED


def test_the_lock_goes_with_the_process(tmp_path):
    program = (
        "import os, pathlib, sys\n"
        "from barnabas.spark.pipeline.registry import Registry\n"
        "registry = Registry(pathlib.Path(sys.argv[1]))\n"
        "with registry.running('p'):\n"
        "    registry.write('p', {'name': 'p', 'state': 'running'})\n"
        "    os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False, timeout=60)
    assert Registry(tmp_path).read("p")["state"] == DIED


def test_all_of_them(tmp_path):
    registry = Registry(tmp_path / "not made yet")
    assert registry.read_all() == []
    with registry.running("b"), registry.running("a"):
        for name in "ba":
            registry.write(name, {"name": name, "state": STOPPED})
    assert [item["name"] for item in registry.read_all()] == ["a", "b"]
    with pytest.raises(LocalError, match="'c' has run"):
        registry.read("c")
