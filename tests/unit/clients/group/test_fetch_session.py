"""Fetch sessions, the client's side (KIP-227)."""

from barnabas.clients.core.apis.fetch import FetchTarget
from barnabas.clients.group.fetch_plan import ConsumerFetchSession
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import ZERO_UUID, TopicPartition, Uuid
from barnabas.net.fetch_session import MAX_EPOCH

ID = Uuid(b"0123456789abcdef")
OTHER_ID = Uuid(b"fedcba9876543210")
A, B = TopicPartition("t", 0), TopicPartition("t", 1)


def target(offset, topic_id=ID):
    return FetchTarget(topic_id, offset, 3, 1000)


def established(targets):
    session = ConsumerFetchSession()
    session.select(targets)
    session.on_response(ErrorCode.NONE, 77)
    return session


def test_the_first_request_is_full():
    request = ConsumerFetchSession().select({A: target(5)})
    assert (request.session_id, request.session_epoch, request.by_id) == (0, 0, True)
    assert dict(request.targets) == {A: target(5)}


def test_then_only_what_changed_is_named():
    session = established({A: target(5), B: target(0)})
    request = session.select({A: target(9), B: target(0)})
    assert (request.session_id, request.session_epoch) == (77, 1)
    assert dict(request.targets) == {A: target(9)}
    assert not request.forgotten


def test_partitions_are_removed_from_the_session_and_added_again():
    session = established({A: target(5), B: target(0)})
    assert dict(session.select({A: target(5)}).forgotten) == {B: ID}
    session.on_response(ErrorCode.NONE, 77)
    request = session.select({A: target(5), B: target(0)})
    assert (request.session_epoch, dict(request.targets)) == (2, {B: target(0)})


def test_a_topic_made_anew_is_forgotten_and_named():
    session = established({A: target(5)})
    request = session.select({A: target(0, OTHER_ID)})
    assert dict(request.forgotten) == {A: ID}
    assert dict(request.targets) == {A: target(0, OTHER_ID)}


def test_a_broker_without_sessions_gets_full_requests():
    session = ConsumerFetchSession()
    for _ in range(3):
        assert session.select({A: target(5)}).session_epoch == 0
        session.on_response(ErrorCode.NONE, 0)


def test_errors_begin_a_new_session():
    session = established({A: target(5)})
    session.select({A: target(5)})
    session.on_response(ErrorCode.INVALID_FETCH_SESSION_EPOCH, 0)
    request = session.select({A: target(5)})
    # Epoch 0 with the old id: the broker drops that session for the new one.
    assert (request.session_id, request.session_epoch, dict(request.targets)) == (
        77,
        0,
        {A: target(5)},
    )
    session.on_response(ErrorCode.FETCH_SESSION_ID_NOT_FOUND, 0)
    assert (session.select({A: target(5)}).session_id, session.id) == (0, 0)


def test_a_lost_answer_begins_a_new_session():
    session = established({A: target(5)})
    session.select({A: target(6)})
    session.lost()
    request = session.select({A: target(6)})
    assert (request.session_id, request.session_epoch, dict(request.targets)) == (
        77,
        0,
        {A: target(6)},
    )


def test_names_and_ids_are_not_mixed():
    session = established({A: target(5)})
    request = session.select({A: target(5), B: target(0, ZERO_UUID)})
    assert (request.by_id, request.session_epoch, len(request.targets)) == (False, 0, 2)


def test_epochs_wrap_to_one():
    session = established({A: target(5)})
    session._epoch = MAX_EPOCH
    session.on_response(ErrorCode.NONE, 77)
    assert session.select({A: target(5)}).session_epoch == 1
