import pytest

from barnabas.model.error_codes import ErrorCode as E
from barnabas.transactions.partition_leader import VerificationStates, VerificationToken

PID = 9
EPOCH = 3
LAST_SEQUENCE = 2**31 - 1


def begin(
    states: VerificationStates, sequence: int, *, epoch: int = EPOCH, open_: bool = False
) -> VerificationToken | None:
    return states.begin(PID, epoch, sequence, transaction_open=open_, now_ms=0)


def check(
    states: VerificationStates,
    sequence: int,
    token: VerificationToken | None,
    *,
    epoch: int = EPOCH,
    open_: bool = False,
) -> E:
    return states.check_append(PID, epoch, sequence, token, transaction_open=open_)


def test_a_verified_batch_may_be_appended() -> None:
    states = VerificationStates()
    token = begin(states, 0)
    assert token is not None
    assert check(states, 0, token) is E.NONE
    states.appended(PID)
    assert len(states) == 0


def test_an_open_transaction_needs_no_question() -> None:
    states = VerificationStates()
    assert begin(states, 3, open_=True) is None
    assert check(states, 3, None, open_=True) is E.NONE


def test_without_a_token_nothing_is_appended() -> None:
    states = VerificationStates()
    assert check(states, 0, None) is E.INVALID_TXN_STATE
    begin(states, 0)
    assert check(states, 0, None) is E.INVALID_TXN_STATE


def test_a_marker_makes_the_token_void() -> None:
    """KAFKA-14884: the transaction ended while the verification was in flight."""
    states = VerificationStates()
    token = begin(states, 0)
    states.marker_written(PID, EPOCH)
    assert check(states, 0, token) is E.INVALID_TXN_STATE
    begin(states, 0)
    assert check(states, 0, token) is E.INVALID_TXN_STATE


def test_a_marker_of_an_earlier_epoch_changes_nothing() -> None:
    """A coordinator repeats it while the producer is at its next transaction."""
    states = VerificationStates()
    token = begin(states, 0)
    states.marker_written(PID, EPOCH - 1)
    assert check(states, 0, token) is E.NONE


def test_batches_of_one_transaction_share_the_token() -> None:
    states = VerificationStates()
    assert begin(states, 0) is begin(states, 1)


@pytest.mark.parametrize(
    ("lowest", "higher"), [(0, 1), (5, 9), (LAST_SEQUENCE, 0), (LAST_SEQUENCE - 2, 1)]
)
def test_a_higher_sequence_waits_for_the_lowest(lowest: int, higher: int) -> None:
    """KAFKA-14920: otherwise the lower one would be out of order for ever."""
    states = VerificationStates()
    begin(states, higher)
    token = begin(states, lowest)
    assert check(states, higher, token) is E.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert check(states, lowest, token) is E.NONE


def test_a_new_epoch_starts_its_own_sequences() -> None:
    states = VerificationStates()
    begin(states, 3, epoch=0)
    token = begin(states, 7, epoch=1)
    assert check(states, 7, token, epoch=1) is E.NONE
    assert begin(states, 1, epoch=0) is token
    assert check(states, 7, token, epoch=1) is E.NONE


def test_switched_off_it_lets_everything_pass() -> None:
    states = VerificationStates(enabled=False)
    assert begin(states, 0) is None
    assert check(states, 5, None) is E.NONE


def test_producers_that_never_return_are_forgotten() -> None:
    states = VerificationStates()
    begin(states, 0)
    states.expire(now_ms=999, expiration_ms=1000)
    assert len(states) == 1
    states.expire(now_ms=1000, expiration_ms=1000)
    assert len(states) == 0
