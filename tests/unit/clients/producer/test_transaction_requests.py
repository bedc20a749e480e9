"""Which versions of its requests a transactional producer may send."""

import pytest

from barnabas.clients.producer.transaction_requests import last_version
from barnabas.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from barnabas.wire.messages.end_txn import EndTxnRequest
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest
from barnabas.wire.messages.produce import ProduceRequest
from barnabas.wire.messages.txn_offset_commit import TxnOffsetCommitRequest


@pytest.mark.parametrize("implicit", [True, False])
def test_partitions_are_announced_in_the_form_of_clients(implicit):
    # Version 4, of brokers, has none of the fields a client fills: it would announce nothing.
    assert last_version(AddPartitionsToTxnRequest, implicit=implicit) == 3


@pytest.mark.parametrize(
    ("request_type", "last"),
    [(ProduceRequest, 11), (EndTxnRequest, 4), (TxnOffsetCommitRequest, 4)],
)
def test_versions_that_leave_the_announcing_to_the_broker_need_its_word(request_type, last):
    assert last_version(request_type, implicit=False) == last
    assert last_version(request_type, implicit=True) is None


def test_others_go_in_any_version():
    assert last_version(InitProducerIdRequest, implicit=False) is None
