"""An append that waits for its followers: the response is valid for the epoch of the append."""

from barnabas.broker.handlers.produce import DelayedProduce, Unacknowledged
from barnabas.model.error_codes import ErrorCode
from barnabas.wire.messages.produce import PartitionProduceResponse, ProduceResponse


class Led:
    """A partition that lost the leadership and has it again since `since_epoch`."""

    def __init__(self, since_epoch, high_watermark):
        self.since_epoch = since_epoch
        self.high_watermark = high_watermark

    def ack_status(self, required_offset, acks, leader_epoch=None):
        if leader_epoch is not None and leader_epoch < self.since_epoch:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return ErrorCode.NONE if self.high_watermark >= required_offset else None


def delayed(partition, leader_epoch):
    answer = PartitionProduceResponse(0, 0, 5, -1, 0)
    append = Unacknowledged(partition, 6, leader_epoch, answer)
    return DelayedProduce(None, ProduceResponse(), [append], -1), answer


def test_records_below_the_high_watermark_are_acknowledged():
    partition = Led(since_epoch=3, high_watermark=5)
    operation, answer = delayed(partition, leader_epoch=3)
    assert not operation.try_complete(None)
    partition.high_watermark = 6
    assert operation.try_complete(None)
    assert answer.error_code == ErrorCode.NONE


def test_a_leader_that_was_away_does_not_vouch_for_what_it_appended_before():
    operation, answer = delayed(Led(since_epoch=5, high_watermark=9), leader_epoch=3)
    assert operation.try_complete(None)
    assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
