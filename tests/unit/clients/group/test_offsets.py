"""Commits that the coordinator rejects."""

from types import SimpleNamespace

import pytest

from barnabas.clients.group.offsets import Offsets
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import GroupMetadata, OffsetAndMetadata


class Client:
    """Rejects every request of the coordinator with one error."""

    def __init__(self, code):
        self._error = BrokerError(code)

    async def send_to_coordinator(self, *_, **__):
        raise self._error

    def forget_coordinator(self, *_):
        pass


@pytest.mark.parametrize(
    ("code", "told"), [(ErrorCode.REBALANCE_IN_PROGRESS, 1), (ErrorCode.NOT_COORDINATOR, 0)]
)
async def test_a_commit_that_a_rebalance_rejects_is_reported(code, told):
    """As in Java, the member joins again without waiting for the next heartbeat."""
    calls = []
    offsets = Offsets(SimpleNamespace(), Client(code))
    offsets.member = offsets.committer = lambda: GroupMetadata("g", 1, "m")
    offsets.on_rebalance = lambda: calls.append(1)
    with pytest.raises(BrokerError):
        await offsets.commit_once({TopicPartition("t", 0): OffsetAndMetadata(1)})
    assert len(calls) == told
