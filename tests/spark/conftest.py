"""One Spark session for all tests of this folder, one real broker beside it.

A JVM takes many seconds to start. Mark the tests with xdist_group("spark"), those of streams and of
SQL with xdist_group("spark-queries"): two processes have a session each, for about the same time.
"""

import os

import pytest
from support.pipelines.spark_cluster import cluster_session

MASTER = os.environ.get("BARNABAS_SPARK_MASTER")
"""Another master than one process: the same tests pass there."""


@pytest.fixture(scope="session")
def spark(request, tmp_path_factory):
    """The session of the product's own plugin, or one on BARNABAS_SPARK_MASTER."""
    if MASTER is None:
        yield request.getfixturevalue("kafka_spark")
        return
    place = tmp_path_factory.mktemp("spark")
    made = cluster_session(MASTER, place)
    yield made
    made.stop()


@pytest.fixture
def source(broker):
    """Options every read needs."""
    return {"kafka.bootstrap.servers": broker.bootstrap_servers}
