import pytest
from support.cluster.controller_cluster import ControllerCluster


@pytest.fixture
async def cluster():
    running = ControllerCluster()
    yield running
    await running.close()
