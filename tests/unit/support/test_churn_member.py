"""The member of churning groups repeats a commit that a rebalance made fail."""

import io
import json
from types import SimpleNamespace

from confluent_kafka import KafkaError, KafkaException
from support.groups.churn_member import run

STALE = KafkaException(KafkaError(KafkaError.STALE_MEMBER_EPOCH))


class Member:
    """Gives one record, then none; its commits have the given outcomes, then it is stopped."""

    def __init__(self, outcomes, stop):
        self.records = [
            [SimpleNamespace(error=lambda: None, partition=lambda: 3, offset=lambda: 0)]
        ]
        self.outcomes, self.stop = list(outcomes), stop
        self.empty_polls = 0

    def subscribe(self, _topics, **_callbacks):
        pass

    def consume(self, _count, _seconds):
        if self.records:
            return self.records.pop()
        self.empty_polls += 1
        if self.empty_polls == 5:
            self.stop.append(True)
        return []

    def commit(self, *, asynchronous):
        assert not asynchronous
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def close(self):
        pass


def events(outcomes):
    stop, log = [], io.StringIO()
    member = Member(outcomes, stop)
    run(member, "t", log, stop)
    assert not member.outcomes, "not every commit was tried"
    return [json.loads(line)["event"] for line in log.getvalue().splitlines()]


def committed(error=None):
    return [SimpleNamespace(partition=3, offset=1, error=error)]


def test_a_failed_commit_is_repeated_without_further_records():
    assert events([STALE, STALE, committed()]) == [
        "read",
        "commit failed",
        "commit failed",
        "committed",
    ]


def test_a_commit_with_a_failed_partition_is_repeated():
    assert events([committed(error=STALE), committed()]) == ["read", "committed"]


def test_nothing_is_left_to_commit_after_the_partitions_went():
    gone = KafkaException(KafkaError(KafkaError._NO_OFFSET))
    assert events([STALE, gone]) == ["read", "commit failed", "commit failed"]
