"""Applies fetch responses to a follower's log: appends, truncates or restarts it.

The fetcher passes in responses of the leader in the partition's current epoch. A truncation must
precede any increase of the high watermark (KAFKA-14704).
"""

import logging

from barnabas.replication.epochs import EpochEnd
from barnabas.replication.high_watermark import follower_high_watermark
from barnabas.replication.partition import Partition
from barnabas.storage.append_info import EarlierBatchError

logger = logging.getLogger(__name__)


def append(
    partition: Partition,
    batches: memoryview | bytes,
    *,
    leader_high_watermark: int,
    leader_log_start: int,
) -> None:
    """Appends the leader's records, then adopts its high watermark and log start offset."""
    log = partition.log
    if len(batches):
        _append(partition, batches)
        if partition.settings.request_flush is not None:
            partition.settings.request_flush(partition)
    watermark = follower_high_watermark(
        leader_high_watermark, log.log_end_offset, log.log_start_offset
    )
    partition.raise_high_watermark(watermark)
    if leader_log_start > log.log_start_offset:
        start = min(leader_log_start, log.high_watermark)
        log.increment_log_start_offset(start, "leader's log start")


def _append(partition: Partition, batches: memoryview | bytes) -> None:
    try:
        partition.log.append_as_follower(batches)
    except EarlierBatchError as error:
        if partition.log.log_end_offset > partition.log.log_start_offset:
            raise
        # The log is empty and starts at the leader's log start offset, which is inside a batch.
        partition.restart_at(error.first_offset)
        partition.log.append_as_follower(batches)


def truncate_to_divergence(partition: Partition, diverging: EpochEnd) -> None:
    """Removes records that the leader does not have; the next fetch checks again."""
    offset = partition.settings.guards.truncation_point(partition.log, diverging)
    if offset < partition.log.high_watermark:
        logger.warning("%r truncates to %d, below its high watermark", partition, offset)
    partition.truncate_to(offset)


def realign(partition: Partition, leader_start: int, leader_end: int) -> bool:
    """Moves the log into the leader's range; returns False if it is in range already.

    A leader whose log ends before this one was elected uncleanly: the additional records are lost.
    A leader whose log starts after this one's end has deleted the records in between.
    """
    end = partition.log.log_end_offset
    if leader_end < end:
        partition.truncate_to(leader_end)
    elif leader_start > end:
        partition.restart_at(leader_start)
    else:
        return False
    return True
