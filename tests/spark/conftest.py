"""One Spark session for all tests of this folder, in one process; one real broker beside it."""

import pytest
from support.spark_copy import SHORT_LIFE


def pytest_collection_modifyitems(items):
    """A JVM is dear: all its tests go to one worker. The files of this folder only."""
    for item in items:
        if "tests/spark/" in item.path.as_posix():
            item.add_marker(pytest.mark.xdist_group("spark"))
            item.add_marker(pytest.mark.integration)


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
