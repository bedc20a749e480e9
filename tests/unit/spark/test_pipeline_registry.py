"""Status of pipelines while they run and afterwards."""

import subprocess
import sys

import pytest

from barnabas.model.errors import LocalError
from barnabas.spark.pipeline_registry import DIED, RUNNING, STOPPED, PipelineRegistry


def test_a_running_pipeline_cannot_run_twice(tmp_path):
    registry = PipelineRegistry(tmp_path)
    with registry.running("p"):
        registry.write("p", {"name": "p", "state": RUNNING})
        assert PipelineRegistry(tmp_path).read("p")["state"] == RUNNING
        with pytest.raises(LocalError, match="running already"), registry.running("p"):
            pass
    assert registry.read("p")["state"] == DIED


def test_the_lock_ends_with_the_process(tmp_path):
    program = (
        "import os, pathlib, sys\n"
        "from barnabas.spark.pipeline_registry import PipelineRegistry\n"
        "registry = PipelineRegistry(pathlib.Path(sys.argv[1]))\n"
        "with registry.running('p'):\n"
        "    registry.write('p', {'name': 'p', 'state': 'running'})\n"
        "    os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False, timeout=60)
    assert PipelineRegistry(tmp_path).read("p")["state"] == DIED


def test_all_rows_of_a_task(tmp_path):
    registry = PipelineRegistry(tmp_path / "not made yet")
    assert registry.read_all() == []
    with registry.running("b"), registry.running("a"):
        for name in "ba":
            registry.write(name, {"name": name, "state": STOPPED})
    assert [item["name"] for item in registry.read_all()] == ["a", "b"]
    with pytest.raises(LocalError, match="'c' has run"):
        registry.read("c")
