"""The last commit of a member: a rebalance that it is part of is waited for, nothing else is."""

import asyncio

import pytest

from barnabas.clients.group import core
from barnabas.clients.group.core import commit_when_joined
from barnabas.clients.group.errors import CommitFailedError
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, DeadlineError

REFUSED = CommitFailedError("the group has rebalanced")
REBALANCING = BrokerError(ErrorCode.REBALANCE_IN_PROGRESS)


class Member:
    """Refuses commits as told; joins for as many looks as told."""

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
    monkeypatch.setattr(core, "LOOK_SECONDS", 0)


def part(member):
    asyncio.run(commit_when_joined(member.commit, member.joining))


@pytest.mark.parametrize("looks", [1, 2, 5])
def test_a_refusal_during_a_join_is_not_the_last_word(looks):
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
    monkeypatch.setattr(core, "REJOIN_SECONDS", 0)
    member = Member([REFUSED], 10**9)
    with pytest.raises(CommitFailedError):
        part(member)
