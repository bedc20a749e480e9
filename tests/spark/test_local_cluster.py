"""The same tests on a cluster of processes: nothing depends on the driver's memory.

A process has one Spark context, so they run in a process of their own. The short form takes one
test that reads, on the driver, writes and replays; the long one all of the source and the sink.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.pipelines.spark_cluster import MASTER
from support.soak import SOAK

HERE = Path(__file__).parent
SHORT = ("test_sink.py::test_a_replayed_micro_batch_writes_nothing_twice",)
LONG = ("test_batch_source.py", "test_stream_source.py", "test_sink.py", "test_formats.py")
SECONDS = 3000 if SOAK else 560
pytestmark = [
    pytest.mark.integration,
    pytest.mark.xdist_group("spark"),
    pytest.mark.timeout(SECONDS + 20),
    pytest.mark.skipif("BARNABAS_SPARK_MASTER" in os.environ, reason="is inside already"),
]


def test_on_a_cluster(tmp_path):
    tests = [str(HERE / name) for name in (LONG if SOAK else SHORT)]
    options = ["-n0", "-q", "-p", "no:cacheprovider", f"--timeout={SECONDS}"]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }
    with (tmp_path / "log").open("w") as log:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            stdout=log,
            stderr=log,
            cwd=HERE.parents[1],
            env={**environment, "BARNABAS_SPARK_MASTER": MASTER, "TMPDIR": str(tmp_path)},
            timeout=SECONDS,
            check=False,
        )
    told = (tmp_path / "log").read_text(errors="replace")
    assert done.returncode == 0, told[-4000:]
    assert "passed" in told
    assert "skipped" not in told.splitlines()[-1], told[-500:]
