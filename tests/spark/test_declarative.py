"""Spark Declarative Pipelines use the source and the sink by the name of the format."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.soak import SOAK

from barnabas.testing import Broker

EXAMPLE = Path(__file__).parents[2] / "examples" / "declarative"
NEEDED = ("grpc", "grpc_status", "google.rpc", "zstandard", "yaml")


def _missing():
    for name in NEEDED:
        try:
            found = importlib.util.find_spec(name)
        except ModuleNotFoundError:
            found = None
        if found is None:
            return name
    return None


pytestmark = [
    pytest.mark.integration,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not SOAK, reason="takes minutes: make soak runs it"),
    pytest.mark.skipif(_missing() is not None, reason=f"pyspark[pipelines] needs {_missing()}"),
]


def test_the_example(tmp_path):
    place = tmp_path / "declarative"
    shutil.copytree(EXAMPLE, place)
    spec = place / "spark-pipeline.yml"
    spec.write_text(spec.read_text().replace("/tmp/barnabas-orders-pipeline", f"{place}/storage"))
    with Broker() as broker:
        broker.topic("orders", partitions=2)
        broker.topic("large-orders")
        orders = [{"id": str(number), "amount": number * 20.0} for number in range(10)]
        broker.produce("orders", *(json.dumps(order) for order in orders))
        for _ in range(2):  # the second run finds nothing new
            done = subprocess.run(
                ["spark-pipelines", "run", "--spec", str(spec)],
                cwd=place,
                env={
                    **os.environ,
                    "BOOTSTRAP_SERVERS": broker.bootstrap_servers,
                    "PYSPARK_PYTHON": sys.executable,
                    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                },
                capture_output=True,
                text=True,
                timeout=500,
                check=False,
            )
            assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
            # A catalog in memory forgets the tables whose files it will not overwrite.
            shutil.rmtree(place / "spark-warehouse", ignore_errors=True)
        found = [json.loads(r.value) for r in broker.records("large-orders", read_committed=True)]
    assert sorted(found, key=lambda order: order["amount"]) == orders[5:]
