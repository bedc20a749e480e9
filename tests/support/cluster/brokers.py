"""A broker with specific settings for one test module, or the cluster of --kafka-external."""

from contextlib import contextmanager

from barnabas.pytest_plugin.fixtures import external_servers
from barnabas.testing import Broker, ExternalKafka


@contextmanager
def broker_with(settings, config):
    """`settings` go to a broker in process; a cluster elsewhere is taken as it is."""
    servers = external_servers(config)
    if servers is None:
        with Broker(settings) as running:
            yield running
        return
    external = ExternalKafka(servers)
    yield external
    external.close_clients()
