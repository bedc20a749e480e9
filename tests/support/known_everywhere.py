"""Topics of a cluster that every broker has heard of: a tool may ask any of them."""

import threading

from barnabas.net.blocking_client import BlockingConnection
from barnabas.net.connection_options import Address, ConnectionOptions
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

TRIES, PAUSE_SECONDS = 300, 0.1


def wait_everywhere(cluster, topic):
    """Until each broker tells a leader of each of the topic's partitions; returns its name."""
    for node in cluster.admin.describe_cluster().brokers:
        connection = BlockingConnection.open(Address(node.host, node.port), ConnectionOptions())
        try:
            for _ in range(TRIES):
                if _knows(connection, topic):
                    break
                threading.Event().wait(PAUSE_SECONDS)
            else:
                raise AssertionError(f"broker {node.id} does not know {topic}")
        finally:
            connection.close()
    return topic


def _knows(connection, topic):
    request = MetadataRequest([MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
    (answer,) = connection.send(request, timeout_s=30).topics
    partitions = answer.partitions
    return answer.error_code == 0 and partitions and all(p.leader_id >= 0 for p in partitions)
