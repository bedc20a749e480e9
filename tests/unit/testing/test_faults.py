"""Planned failures, without a broker."""

from types import SimpleNamespace

import pytest

from barnabas.model.error_codes import ErrorCode
from barnabas.net.close_reasons import ConnectionClosedError
from barnabas.testing.faults import FaultInjector, api_named, error_named
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.metadata import MetadataResponse, MetadataResponseTopic
from barnabas.wire.messages.produce import ProduceRequest


def context(api, version=3, client_id="me"):
    header = SimpleNamespace(api_key=int(api), api_version=version, client_id=client_id)
    return SimpleNamespace(header=header)


def handled(context, request):
    return "handled"


@pytest.mark.parametrize("name", ["ListOffsets", "list_offsets", "LIST_OFFSETS", "list-offsets"])
def test_apis_go_by_any_usual_spelling(name):
    assert api_named(name) is ApiKey.LIST_OFFSETS


def test_an_unknown_api_is_named():
    with pytest.raises(ValueError, match="unknown API 'Prodce'; did you mean 'PRODUCE'"):
        api_named("Prodce")


def test_a_failure_strikes_its_api_as_often_as_planned():
    faults = FaultInjector()
    failure = faults.plan("InitProducerId", "not_coordinator", 2)
    request = ProduceRequest()
    assert faults(context(ApiKey.PRODUCE), request, handled) == "handled"
    from barnabas.wire.messages.init_producer_id import InitProducerIdRequest

    answers = [
        faults(context(ApiKey.INIT_PRODUCER_ID), InitProducerIdRequest(), handled) for _ in range(3)
    ]
    assert [getattr(answer, "error_code", None) for answer in answers] == [16, 16, None]
    assert failure.hits == 2


def test_failures_of_one_api_come_in_the_order_planned():
    faults = FaultInjector()
    faults.plan(ApiKey.END_TXN, ErrorCode.CONCURRENT_TRANSACTIONS, 1)
    faults.plan(ApiKey.END_TXN, ErrorCode.NOT_COORDINATOR, 1)
    from barnabas.wire.messages.end_txn import EndTxnRequest

    answers = [faults(context(ApiKey.END_TXN), EndTxnRequest(), handled) for _ in range(2)]
    assert [answer.error_code for answer in answers] == [51, 16]


def test_healed_is_healed():
    faults = FaultInjector()
    faults.plan("produce", "NOT_LEADER_OR_FOLLOWER", None)
    faults.heal()
    assert faults(context(ApiKey.PRODUCE), ProduceRequest(), handled) == "handled"


def test_without_an_error_the_connection_is_closed():
    faults = FaultInjector()
    faults.plan("produce", None, 1)
    with pytest.raises(ConnectionClosedError):
        faults(context(ApiKey.PRODUCE), ProduceRequest(acks=-1), handled)


def test_a_request_without_a_response_can_only_be_rejected_by_closing():
    faults = FaultInjector()
    faults.plan("produce", "MESSAGE_TOO_LARGE", 1)
    with pytest.raises(ConnectionClosedError):
        faults(context(ApiKey.PRODUCE), ProduceRequest(acks=0), handled)


async def test_metadata_keeps_its_brokers():
    faults = FaultInjector()
    faults.plan("metadata", "LEADER_NOT_AVAILABLE", 1)

    def real(context, request):
        return MetadataResponse(controller_id=7, topics=[MetadataResponseTopic(name="t")])

    response = await faults(context(ApiKey.METADATA), None, real)
    assert response.controller_id == 7
    assert response.topics[0].error_code == ErrorCode.LEADER_NOT_AVAILABLE


def test_requests_are_recorded():
    faults = FaultInjector()
    faults(context(ApiKey.PRODUCE, 9, "app"), ProduceRequest(), handled)
    assert list(faults.seen) == [(ApiKey.PRODUCE, 9, "app")]


def test_an_error_that_is_none():
    with pytest.raises(ValueError, match="unknown error code 'NOT_LEADER'; did you mean 'NOT"):
        error_named("NOT_LEADER")
    assert error_named("not_leader_or_follower") is ErrorCode.NOT_LEADER_OR_FOLLOWER
