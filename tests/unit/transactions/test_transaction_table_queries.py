from dataclasses import replace

import pytest
from support.transactions.harness import P0, P1

from barnabas.model.error_codes import ErrorCode as E
from barnabas.transactions.metadata import TransactionMetadata, Transition
from barnabas.transactions.metadata import TransactionState as S
from barnabas.transactions.requests import ListTransactions
from barnabas.transactions.transaction_table import describe_transaction, list_transactions

OPEN = Transition(S.ONGOING, 1, 4, 60_000, 500, frozenset({P1, P0}), start_ms=500)


def known(name: str, current: Transition, *, persisted: bool = True) -> TransactionMetadata:
    return TransactionMetadata(name, current, persisted=persisted)


IDS = [
    known("open", OPEN),
    known("old", replace(OPEN, producer_id=2, start_ms=100)),
    known("idle", Transition(S.EMPTY, 3, 0, 1, 0)),
    known("unborn", Transition(S.EMPTY, 4, 0, 1, 0), persisted=False),
]


@pytest.mark.parametrize(
    ("request_", "names"),
    [
        (ListTransactions(), {"open", "old", "idle"}),
        (ListTransactions(states=frozenset({"Ongoing"})), {"open", "old"}),
        (ListTransactions(producer_ids=frozenset({2, 3})), {"old", "idle"}),
        (ListTransactions(duration_ms=600), {"old"}),
        (ListTransactions(duration_ms=0), {"open", "old"}),
        (ListTransactions(transactional_id_pattern="o.*"), {"open", "old"}),
        (ListTransactions(transactional_id_pattern="o"), set()),
        (ListTransactions(states=frozenset({"Bogus"})), set()),
    ],
)
def test_a_list_contains_the_ids_that_match_its_filters(
    request_: ListTransactions, names: set[str]
) -> None:
    reply = list_transactions(IDS, request_, now_ms=1000)
    assert reply.error is E.NONE
    assert {listing.transactional_id for listing in reply.transactions} == names


def test_unknown_states_are_returned_to_the_caller() -> None:
    request = ListTransactions(states=frozenset({"Bogus", "Empty"}))
    reply = list_transactions(IDS, request, 0)
    assert reply.unknown_states == ("Bogus",)
    assert [listing.transactional_id for listing in reply.transactions] == ["idle"]


def test_a_bad_pattern() -> None:
    reply = list_transactions(IDS, ListTransactions(transactional_id_pattern="("), 0)
    assert reply.error is E.INVALID_REGULAR_EXPRESSION


def test_a_description_has_state_producer_and_partitions() -> None:
    reply = describe_transaction(IDS[0], "open")
    assert (reply.error, reply.state, reply.partitions) == (E.NONE, S.ONGOING, (P0, P1))
    assert (reply.producer_id, reply.producer_epoch, reply.start_ms) == (1, 4, 500)


@pytest.mark.parametrize(
    ("metadata", "name", "error"),
    [
        (None, "x", E.TRANSACTIONAL_ID_NOT_FOUND),
        (IDS[3], "unborn", E.TRANSACTIONAL_ID_NOT_FOUND),
        (None, "", E.INVALID_REQUEST),
    ],
)
def test_a_description_of_an_unknown_id_is_an_error(
    metadata: TransactionMetadata | None, name: str, error: E
) -> None:
    assert describe_transaction(metadata, name).error is error
