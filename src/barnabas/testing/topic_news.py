"""Asks one broker, and no other, what it knows of a topic.

Brokers of a cluster hear of a new topic one after the other; a client that happens to ask the last
one is told that there is no such topic.
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
    """Until this broker knows the topic's leaders; False when it does not, or cannot be asked."""
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
