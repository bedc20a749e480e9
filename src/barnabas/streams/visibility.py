"""Waiting until what was committed can be seen.

A commit is answered when it is decided; the marks that show it to readers follow at once, but
after. What reads a topic to its end right away, as the next query of a run does, would miss the
last transaction.
"""

import logging
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from barnabas.admin import LATEST, Admin
from barnabas.model.ids import TopicPartition
from barnabas.model.records import IsolationLevel

WAIT_SECONDS = 30.0
LOOK_AGAIN_SECONDS = 0.02

_log = logging.getLogger("barnabas.streams")


def wait_until_visible(
    settings: Mapping[str, Any], topics: Iterable[str], timeout: float = WAIT_SECONDS
) -> None:
    """Until readers of committed records see all that is in the topics now.

    Somebody else's transaction may be open there for longer: after a while it is not waited for.
    """
    names = sorted(set(topics))
    if not names:
        return
    with Admin(settings) as admin:
        topic_partitions = [
            TopicPartition(found.name, number)
            for found in admin.describe_topics(names).check().values()
            for number in range(len(found.partitions))
        ]
        ends = _ends(admin, topic_partitions, IsolationLevel.READ_UNCOMMITTED)
        pause = threading.Event()
        for _ in range(int(timeout / LOOK_AGAIN_SECONDS)):
            seen = _ends(admin, topic_partitions, IsolationLevel.READ_COMMITTED)
            hidden = [
                topic_partition
                for topic_partition in topic_partitions
                if seen[topic_partition] < ends[topic_partition]
            ]
            if not hidden:
                return
            pause.wait(LOOK_AGAIN_SECONDS)
    _log.warning("going on although a transaction is still open in %s", hidden[0])


def _ends(
    admin: Admin, topic_partitions: list[TopicPartition], isolation: IsolationLevel
) -> dict[TopicPartition, int]:
    listed = admin.list_offsets(
        dict.fromkeys(topic_partitions, LATEST), isolation=isolation
    ).check()
    return {topic_partition: found.offset or 0 for topic_partition, found in listed.items()}
