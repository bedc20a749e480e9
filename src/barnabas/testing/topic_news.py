"""Waits until one particular broker knows a topic.

The brokers of a cluster learn of a new topic one after another. A client that connects to the last
one would get UNKNOWN_TOPIC_OR_PARTITION.
"""

import threading
import time

from barnabas.model.errors import BarnabasError
from barnabas.net.blocking_client import BlockingConnection
from barnabas.net.connection_options import Address, ConnectionOptions
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

_OPTIONS = ConnectionOptions("barnabas-testing", connect_timeout_s=5.0, request_timeout_s=5.0)
_LOOK_AGAIN_SECONDS = 0.02


def wait_until_known(address: str, topic: str, timeout_s: float) -> bool:
    """Wait until a broker knows the leaders of a topic; returns False after a timeout or error."""
    host, _, port = address.rpartition(":")
    pause, deadline = threading.Event(), time.monotonic() + timeout_s
    try:
        connection = BlockingConnection.open(Address(host, int(port)), _OPTIONS)
    except BarnabasError:
        return False
    try:
        while not _knows(connection, topic):
            if time.monotonic() > deadline:
                return False
            pause.wait(_LOOK_AGAIN_SECONDS)
        return True
    except BarnabasError:
        return False
    finally:
        connection.close()


def _knows(connection: BlockingConnection, topic: str) -> bool:
    asked = [MetadataRequestTopic(name=topic)]
    answer = connection.send(MetadataRequest(asked, allow_auto_topic_creation=False))
    found = answer.topics[0]
    return found.error_code == 0 and all(part.leader_id >= 0 for part in found.partitions)
