"""An old librdkafka (2.0.2) from an environment of its own, as people still run it.

`make setup` makes the environment; without it the test fails, it does not skip.
"""

import json
import subprocess
from pathlib import Path

import pytest

from barnabas.model.records import Codec
from barnabas.records.batch import parse_header

pytestmark = pytest.mark.compat

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-librdkafka-2.0" / "bin" / "python"
SCRIPT = Path(__file__).parent / "librdkafka_2_0_script.py"


@pytest.mark.parametrize("idempotent", ["false", "true"])
@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_every_byte_comes_back(broker, topic_name, codec, idempotent):
    done = subprocess.run(
        [PYTHON, SCRIPT, broker.bootstrap_servers, topic_name, codec, idempotent],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["version"] == "2.0.2"
    assert result["read"] == result["written"]
    assert stored_codec(broker, topic_name) is Codec[codec.upper()]


def stored_codec(broker, topic):
    """Reads the log: this client stops compressing without an error for some brokers."""
    segment = broker.data_dir / f"{topic}-0" / f"{0:020d}.log"
    return parse_header(segment.read_bytes()).codec
