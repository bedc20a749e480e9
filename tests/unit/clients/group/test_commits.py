"""Commits: the retries of the last one, and a rebalance that the leaving member is part of."""

import asyncio

import pytest

from barnabas.clients.core.backoff import Backoff
from barnabas.clients.group import commits
from barnabas.clients.group.commits import Commits, commit_when_joined
from barnabas.clients.group.errors import CommitFailedError
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, DeadlineError, UnavailableError

REFUSED = CommitFailedError("the group has rebalanced")
REBALANCING = BrokerError(ErrorCode.REBALANCE_IN_PROGRESS)


class Member:
    """A membership with planned commit errors and a planned number of steps until it has joined."""

    def __init__(self, refusals, looks=0):
        self.refusals = list(refusals)
        self.looks = looks
        self.commits = 0

    async def commit(self):
        self.commits += 1
        if self.refusals:
            raise self.refusals.pop(0)

    def joining(self):
        self.looks -= 1
        return self.looks >= 0


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(commits, "JOIN_CHECK_SECONDS", 0)


def part(member):
    asyncio.run(commit_when_joined(member.commit, member.joining))


@pytest.mark.parametrize("looks", [1, 2, 5])
def test_a_rejection_during_a_join_is_not_the_last_word(looks):
    member = Member([REFUSED], looks)
    part(member)
    assert member.commits == 2


def test_a_second_join_is_waited_for_too():
    member = Member([REFUSED, REBALANCING])
    joining = iter([True, True, False, False, True, False, False])
    asyncio.run(commit_when_joined(member.commit, lambda: next(joining)))
    assert member.commits == 3


@pytest.mark.parametrize("error", [REFUSED, REBALANCING, DeadlineError("no answer")])
def test_without_a_join_it_is(error):
    member = Member([error])
    with pytest.raises(type(error)):
        part(member)
    assert member.commits == 1


def test_a_join_that_does_not_end_is_given_up(monkeypatch):
    monkeypatch.setattr(commits, "REJOIN_SECONDS", 0)
    member = Member([REFUSED], 10**9)
    with pytest.raises(CommitFailedError):
        part(member)


# -- retries ---------------------------------------------------------------------------------------


class Requests:
    """Replaces `Offsets`: raises the planned errors, then accepts."""

    def __init__(self, *errors):
        self.errors = list(errors)
        self.attempts = 0

    async def commit_once(self, offsets):
        self.attempts += 1
        if self.errors:
            raise self.errors.pop(0)


def commits_with(requests, unknown=()):
    return Commits(requests, (), lambda: Backoff(0, 0), lambda: False, lambda: unknown.append(1))


MOVED = BrokerError(ErrorCode.NOT_COORDINATOR)
DELETED = BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def test_before_a_rebalance_transient_errors_are_retried():
    requests = Requests(MOVED, UnavailableError("closed"))
    asyncio.run(commits_with(requests).before_rebalance({}))
    assert requests.attempts == 3


def test_before_leaving_they_are_too():
    requests = Requests(MOVED, UnavailableError("closed"))
    asyncio.run(commits_with(requests).before_leaving({}, 10))
    assert requests.attempts == 3


def test_the_time_of_close_limits_the_retries(caplog):
    requests = Requests(*[MOVED] * 100_000)
    asyncio.run(commits_with(requests).before_leaving({}, 0))
    assert requests.attempts <= 1
    assert "the last automatic commit failed" in caplog.text


def test_a_deleted_topic_is_not_retried(caplog):
    requests, unknown = Requests(DELETED, DELETED), []
    asyncio.run(commits_with(requests, unknown).before_rebalance({}))
    assert requests.attempts == 1
    assert unknown
    assert "UNKNOWN_TOPIC_OR_PARTITION" in caplog.text


def test_a_periodic_commit_is_not_retried():
    requests = Requests(MOVED)

    async def run():
        commits = commits_with(requests)
        commits.begin_automatic({})
        await commits.finish()

    asyncio.run(run())
    assert requests.attempts == 1
