"""Waits until every transaction on a topic is decided.

A commit is answered when the coordinator has it in its log; the markers that end the transaction in
the partitions follow. Until they are there, a reader of committed records does not see the last
ones: neither a person nor the next query, which would leave them for its next run.
"""

import threading
import time
from collections.abc import Mapping
from typing import Any

from barnabas.clients.simple import SimpleConsumer
from barnabas.model.errors import DeadlineError

TIMEOUT_SECONDS = 30.0
PAUSE_SECONDS = 0.02


def wait_settled(settings: Mapping[str, Any], topic: str, timeout: float = TIMEOUT_SECONDS) -> None:
    """Return when readers of committed records see all that there is; DeadlineError otherwise."""
    deadline = time.monotonic() + timeout
    pause = threading.Event()
    with (
        SimpleConsumer(settings, isolation_level="read_committed") as stable,
        SimpleConsumer(settings, isolation_level="read_uncommitted") as every,
    ):
        for partition in every.partitions(topic):
            end = every.latest_offset(topic, partition)
            while stable.latest_offset(topic, partition) < end:
                if time.monotonic() > deadline:
                    raise DeadlineError(f"a transaction on {topic}-{partition} stays open")
                pause.wait(PAUSE_SECONDS)
