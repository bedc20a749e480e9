"""Groups and transactions of an old librdkafka (2.0.2), and kcat as a group member.

`make setup` makes the old client's environment; without it the test fails, it does not skip.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from support.groups.foreign_groups import create_topic, produce

pytestmark = pytest.mark.compat

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-librdkafka-2.0" / "bin" / "python"
SCRIPT = Path(__file__).parent / "librdkafka_2_0_group_script.py"
KCAT = shutil.which("kcat") or shutil.which("kafkacat")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_transactions_and_a_group_of_librdkafka_2_0(broker, topic_name):
    create_topic(broker, topic_name, 2)
    result = json.loads(run(PYTHON, SCRIPT, broker.bootstrap_servers, topic_name))
    assert result["version"] == "2.0.2"
    assert result["values"] == sorted(f"kept {n}" for n in range(20))
    assert result["shares"] == [1, 1]
    assert result["committed"] == [10, 10]


@pytest.mark.skipif(KCAT is None, reason="kcat is not installed (apt-get install kcat)")
def test_kcat_reads_in_a_group_and_goes_on_where_it_stopped(broker, topic_name):
    create_topic(broker, topic_name, 2)
    options = ["-b", broker.bootstrap_servers, "-e", "-q"]
    options += ["-X", "auto.offset.reset=earliest", "-G", topic_name, topic_name]
    produce(broker, topic_name, 6, 2)
    assert sorted(run(KCAT, *options).split()) == [str(n) for n in range(6)]
    produce(broker, topic_name, 2, 2)
    assert sorted(run(KCAT, *options).split()) == ["0", "1"]
