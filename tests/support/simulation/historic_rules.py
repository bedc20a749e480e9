"""The rules that Kafka had before each of these bugs was understood, to show that they lose data.

Each entry is `SafetyRules` with one of our rules replaced by its predecessor.
"""

from dataclasses import replace

from barnabas.model.error_codes import ErrorCode
from barnabas.replication.epochs import LogEpochEnd
from barnabas.replication.safety_rules import DEFAULT_RULES


def truncate_to_high_watermark(log):
    return log.high_watermark


def trust_the_offset(history, last_fetched_epoch, fetch_offset):
    return None


def end_of_the_epoch_only(history, last_fetched_epoch, fetch_offset):
    """KIP-101 as first built: an end offset, without saying of which epoch."""
    _, end_offset = history.end_offset_for_epoch(last_fetched_epoch)
    if end_offset == -1 or end_offset >= fetch_offset:
        return None
    return LogEpochEnd(last_fetched_epoch, end_offset)


def truncate_once(history, diverging):
    return min(diverging.end_offset, history.log_end_offset)


def no_fence(requested, current):
    return ErrorCode.NONE


def join_at_the_watermark(replica_end, high_watermark, epoch_start):
    return replica_end >= high_watermark


def lead_whatever_was_lost(state, broker_id, doubtful, policy):
    return True


BEFORE_KIP_101 = replace(
    DEFAULT_RULES, truncate_at_start=truncate_to_high_watermark, divergence=trust_the_offset
)
BEFORE_KIP_279 = replace(
    DEFAULT_RULES, divergence=end_of_the_epoch_only, truncation_point=truncate_once
)
BEFORE_KIP_320 = replace(DEFAULT_RULES, check_leader_epoch=no_fence)
BEFORE_KIP_966 = replace(DEFAULT_RULES, may_lead=lead_whatever_was_lost)
BEFORE_KAFKA_7128 = replace(DEFAULT_RULES, may_join=join_at_the_watermark)
