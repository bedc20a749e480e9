"""What a follower does to its log on the leader's word: append, truncate, start over.

Called by the fetcher with responses of the leader whose epoch the partition follows. Order
matters: truncation comes before anything that raises the high watermark (KAFKA-14704).
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
    """Take over what the leader sent, then what it says is committed and deleted."""
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
        # An empty log that goes on at the leader's log start, which lies within a batch.
        partition.restart_at(error.first_offset)
        partition.log.append_as_follower(batches)


def truncate_to_divergence(partition: Partition, diverging: EpochEnd) -> None:
    """Drop what the leader does not have; the next fetch tells whether that was enough."""
    offset = partition.settings.guards.truncation_point(partition.log, diverging)
    if offset < partition.log.high_watermark:
        logger.warning("%r truncates to %d, below its high watermark", partition, offset)
    partition.truncate_to(offset)


def realign(partition: Partition, leader_start: int, leader_end: int) -> bool:
    """Recover from an offset that the leader does not have; False when nothing was to be done.

    A leader that ends before us was elected uncleanly: what it lacks is gone. One that starts
    after our end has deleted everything we could go on from.
    """
    end = partition.log.log_end_offset
    if leader_end < end:
        partition.truncate_to(leader_end)
    elif leader_start > end:
        partition.restart_at(leader_start)
    else:
        return False
    return True
