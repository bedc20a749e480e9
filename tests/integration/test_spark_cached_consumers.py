"""Consumers that the Spark source caches in a process: closed when the process exits."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.integration

READ = """
import atexit, os, sys

def sockets():
    links = (os.path.join("/proc/self/fd", name) for name in os.listdir("/proc/self/fd"))
    return [link for link in links if os.path.lexists(link) and "socket:" in os.readlink(link)]

# Functions run in the reverse order of their registration: this one after those of the source.
atexit.register(lambda: print("at exit", len(sockets())))

from barnabas.spark.source.options import SourceOptions
from barnabas.spark.source.planner import OffsetRange
from barnabas.spark.source.range_reader import read_ranges

servers, topic = sys.argv[1:]
options = SourceOptions.parse(
    {"kafka.bootstrap.servers": servers, "subscribe": topic}, streaming=False
)
print(sum(batch.num_rows for _, batch in read_ranges([OffsetRange(topic, 0, 0, 2)], options)))
print("cached", len(sockets()))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_process_that_has_read_a_topic_exits_without_open_sockets(broker, topic_name):
    broker.produce(topic_name, "one", "two")
    done = subprocess.run(
        [sys.executable, "-c", READ, broker.bootstrap_servers, topic_name],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("2\ncached 1\nat exit 0\n", "")
