"""Moves of replicas between a broker's directories, as part of a reassignment."""

import threading
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from barnabas.cli.apache.flags import say
from barnabas.cli.apache.replicas.plan_file import LogDirs
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, LocalError
from barnabas.model.ids import TopicPartition

if TYPE_CHECKING:
    from barnabas.admin import Admin, LogDir

RETRY_SECONDS = 0.2


def move_log_dirs(admin: "Admin", dirs: LogDirs, timeout_ms: int) -> None:
    """Start every move; a replica that is not there yet is waited for."""
    from barnabas.admin import Replica

    deadline = time.monotonic() + timeout_ms / 1000
    pending = {Replica(*place, broker): name for (place, broker), name in dirs.items()}
    while pending:
        results = admin.alter_replica_log_dirs(pending)
        for replica in results.ok:
            place = f"replica {replica.topic}-{replica.partition} with broker {replica.broker}"
            say(f"Successfully started moving log directory to {pending[replica]} for {place} ")
        for error in results.errors.values():
            if not _not_yet(error):
                raise error
        pending = {replica: pending[replica] for replica in results.errors}
        if pending and time.monotonic() >= deadline:
            shown = ",".join(f"{r.topic}-{r.partition}-{r.broker}" for r in pending)
            many = "" if len(pending) == 1 else "s"
            raise LocalError(
                f"Timed out before log directory move{many} could be started for: {shown}"
            )
        threading.Event().wait(RETRY_SECONDS if pending else 0)


def _not_yet(error: Exception) -> bool:
    return isinstance(error, BrokerError) and error.code is ErrorCode.REPLICA_NOT_AVAILABLE


def verify_log_dirs(admin: "Admin", dirs: LogDirs) -> bool:
    """Say how far each move is; whether some are still under way."""
    brokers = sorted({broker for _, broker in dirs})
    found = admin.describe_log_dirs(brokers).ok if brokers else {}
    ongoing = False
    for (place, broker), wanted in sorted(dirs.items()):
        now, future = _where(found.get(broker, ()), place)
        ongoing = ongoing or future is not None
        say(_state(f"{place}", broker, wanted, now, future))
    return ongoing


def _where(dirs: Iterable["LogDir"], place: TopicPartition) -> tuple[str | None, str | None]:
    """The directory of a replica, and the one that it is on its way to."""
    holding = [(item.path, item.replicas[place].future) for item in dirs if place in item.replicas]
    now = next((path for path, future in holding if not future), None)
    return now, next((path for path, future in holding if future), None)


def _state(place: str, broker: int, wanted: str, now: str | None, future: str | None) -> str:
    if future == wanted:
        return f"Reassignment of replica {place}-{broker} is still in progress."
    if future is not None:
        return (
            f"Partition {place} on broker {broker} is being moved to log dir {future} instead of "
            f"{wanted}."
        )
    if now is None:
        return f"Partition {place} cannot be found in any live log directory on broker {broker}."
    if now == wanted:
        return f"Reassignment of replica {place}-{broker} completed successfully."
    return (
        f"Partition {place} on broker {broker} is not being moved from log dir {now} to {wanted}."
    )
