import pytest

from barnabas.model.error_codes import ErrorCode
from barnabas.transactions.partition_leader import (
    Marker,
    MarkerAction,
    ProducerView,
    decide_marker,
)

APPEND, SKIP = MarkerAction.APPEND, MarkerAction.SKIP
OPEN, CLOSED = True, False


def test_an_unknown_producer() -> None:
    assert decide_marker(None, Marker(3, 7)) is APPEND


@pytest.mark.parametrize(
    ("known_epoch", "open_", "version", "action"),
    [
        (3, OPEN, 2, APPEND),  # the transaction's own epoch is the one before the marker's
        (3, CLOSED, 2, APPEND),  # no data here, but the epoch must be fenced
        (4, CLOSED, 2, SKIP),
        (4, OPEN, 2, SKIP),  # a later transaction is open: not ours to end
        (4, OPEN, 0, APPEND),
        (4, CLOSED, 0, SKIP),
        (5, OPEN, 0, MarkerAction.FENCED_PRODUCER),
        (5, CLOSED, 2, MarkerAction.FENCED_PRODUCER),
    ],
)
def test_the_epoch_decides_whether_a_marker_is_written(
    known_epoch: int, open_: bool, version: int, action: MarkerAction
) -> None:
    assert decide_marker(ProducerView(known_epoch, 7, open_), Marker(4, 7, version)) is action


@pytest.mark.parametrize("version", [0, 2])
def test_an_older_coordinator(version: int) -> None:
    action = decide_marker(ProducerView(3, 8, OPEN), Marker(4, 7, version))
    assert action is MarkerAction.FENCED_COORDINATOR
    assert action.error is ErrorCode.TRANSACTION_COORDINATOR_FENCED


def test_a_fenced_marker_has_an_error() -> None:
    assert (APPEND.error, SKIP.error) == (ErrorCode.NONE, ErrorCode.NONE)
    assert MarkerAction.FENCED_PRODUCER.error is ErrorCode.INVALID_PRODUCER_EPOCH


@pytest.mark.parametrize(("version", "ended"), [(0, 4), (1, 4), (2, 3)])
def test_which_epoch_a_marker_ends(version: int, ended: int) -> None:
    assert Marker(4, 7, version).ended_epoch == ended
