"""One Spark session for all tests of this folder, one real broker beside it.

A JVM is dear: mark the tests with xdist_group("spark"), so that all go to one process.
"""

import pytest
from support.spark_copy import SHORT_LIFE


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    from barnabas.spark import session

    place = tmp_path_factory.mktemp("spark")
    settings = {
        **SHORT_LIFE,
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.sql.warehouse.dir": str(place / "warehouse"),
        "spark.local.dir": str(place / "local"),
        "spark.sql.session.timeZone": "UTC",
    }
    made = session("local[2]", config=settings)
    made.sparkContext.setLogLevel("ERROR")
    yield made
    made.stop()


@pytest.fixture
def source(broker):
    """Options every read needs."""
    return {"kafka.bootstrap.servers": broker.bootstrap_servers}
