"""A member of a KIP-848 group: its requests, and its state after each response."""

import pytest

from barnabas.clients.group.kip848_member import Kip848Member
from barnabas.clients.group.membership_actions import (
    AssignmentStep,
    LookUpPartitions,
    Send,
    StepKind,
)
from barnabas.clients.group.settings import GroupSettings
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import UnavailableError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.wire.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)

ID = Uuid(b"0123456789abcdef")
A, B = TopicPartition("t", 0), TopicPartition("t", 1)
INTERVAL_MS, BACKOFF_MS = 5000, 100


class Driver:
    def __init__(self, instance_id=None, names=None, pattern=None):
        settings = GroupSettings(
            "g", instance_id, "consumer", None, (), 45_000, 3000, 300_000, "rack"
        )
        self.names = {ID: "t"} if names is None else names
        self.member = Kip848Member(settings, BACKOFF_MS, "me", self.names)
        self.member.subscribe(frozenset({"t"}), pattern)
        self.now = 1000

    def ask(self):
        return self.member.poll(self.now)

    def request(self):
        action = self.ask()
        assert isinstance(action, Send), action
        assert self.ask() is None
        return action.request

    def answer(self, epoch, *numbers, code=0, unchanged=False):
        assignment = Assignment([TopicPartitions(ID, list(numbers))] if numbers else [])
        self.member.on_response(
            ConsumerGroupHeartbeatResponse(
                error_code=code,
                member_id="me",
                member_epoch=epoch,
                heartbeat_interval_ms=INTERVAL_MS,
                assignment=None if unchanged else assignment,
            ),
            self.now,
        )

    def step(self, kind, *partitions):
        action = self.ask()
        assert isinstance(action, AssignmentStep), action
        assert (action.kind, action.partitions) == (kind, frozenset(partitions))
        self.member.step_done(action, self.now)

    def joined(self, *numbers):
        self.step(StepKind.PREPARE)
        self.request()
        self.answer(1, *numbers)
        self.step(StepKind.ASSIGN, *(TopicPartition("t", number) for number in numbers))
        request = self.request()
        self.answer(1, unchanged=True)
        return request

    def tick(self):
        self.now += INTERVAL_MS
        return self.request()


def owned(request):
    if request.topic_partitions is None:
        return None
    return {number for item in request.topic_partitions for number in item.partitions}


def test_joining_says_everything_and_what_is_taken_is_acknowledged_at_once():
    driver = Driver()
    driver.step(StepKind.PREPARE)
    request = driver.request()
    assert (request.member_id, request.member_epoch) == ("me", 0)
    assert (request.subscribed_topic_names, owned(request)) == (["t"], set())
    assert (request.rack_id, request.rebalance_timeout_ms) == ("rack", 300_000)
    driver.answer(1, 0, 1)
    assert driver.member.group.generation_id == 1
    driver.step(StepKind.ASSIGN, A, B)
    acknowledgement = driver.request()
    assert (owned(acknowledgement), acknowledgement.subscribed_topic_names) == ({0, 1}, None)
    driver.answer(1, unchanged=True)
    assert driver.member.settled
    assert driver.ask() is None
    assert owned(driver.tick()) is None, "nothing changed, nothing said"


def test_giving_up_comes_before_taking():
    driver = Driver()
    driver.joined(0)
    driver.tick()
    driver.answer(2, 1)
    driver.step(StepKind.REVOKE, A)
    driver.step(StepKind.ASSIGN, B)
    assert owned(driver.request()) == {1}


def test_a_newer_target_during_a_step_is_reconciled_after_it():
    driver = Driver()
    driver.joined(0)
    driver.tick()
    driver.answer(2, 0, 1)
    step = driver.ask()
    driver.now += INTERVAL_MS
    driver.request()
    driver.answer(3, 0)
    driver.member.step_done(step, driver.now)
    driver.step(StepKind.REVOKE, B)
    driver.step(StepKind.ASSIGN)
    assert driver.member.settled


def test_a_topic_whose_name_is_unknown_is_looked_up():
    driver = Driver(names={})
    driver.step(StepKind.PREPARE)
    driver.request()
    driver.answer(1, 0)
    assert driver.ask() == LookUpPartitions(frozenset({"t"}))
    driver.member.on_partition_counts({}, driver.now)
    assert driver.ask() is None
    driver.names[ID] = "t"
    driver.step(StepKind.ASSIGN, A)


@pytest.mark.parametrize("code", [ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID])
def test_fenced_means_lost_then_anew(code):
    driver = Driver()
    driver.joined(0)
    driver.tick()
    driver.answer(0, code=code, unchanged=True)
    assert driver.member.group.generation_id == -1
    driver.step(StepKind.LOST, A)
    driver.step(StepKind.PREPARE)
    request = driver.request()
    assert (request.member_epoch, request.member_id, owned(request)) == (0, "me", set())


def test_after_an_error_everything_is_reported_again():
    driver = Driver()
    driver.joined(0)
    driver.tick()
    driver.member.failed(UnavailableError("gone"), driver.now)
    assert driver.member.group.generation_id == 1, "the epoch stays good"
    assert driver.ask() is None
    driver.now += BACKOFF_MS
    request = driver.request()
    assert (request.subscribed_topic_names, owned(request), request.member_epoch) == (
        ["t"],
        {0},
        1,
    )
    driver.answer(0, code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, unchanged=True)
    driver.now += BACKOFF_MS
    assert driver.request().subscribed_topic_names == ["t"]


def test_a_fatal_error_ends_it():
    driver = Driver()
    driver.joined(0)
    driver.tick()
    driver.answer(0, code=ErrorCode.GROUP_AUTHORIZATION_FAILED, unchanged=True)
    assert driver.member.fatal.name == "GROUP_AUTHORIZATION_FAILED"
    driver.step(StepKind.LOST, A)
    assert driver.ask() is None


def test_a_pattern_goes_to_the_broker():
    driver = Driver(pattern="t.*")
    driver.step(StepKind.PREPARE)
    request = driver.request()
    assert (request.subscribed_topic_regex, request.subscribed_topic_names) == ("t.*", None)


def test_another_subscription_is_sent_at_once():
    driver = Driver()
    driver.joined(0)
    driver.member.subscribe(frozenset({"t", "u"}), None)
    assert driver.request().subscribed_topic_names == ["t", "u"]


@pytest.mark.parametrize(("instance_id", "epoch"), [(None, -1), ("i", -2)])
def test_leaving(instance_id, epoch):
    driver = Driver(instance_id)
    assert driver.member.leave("early") is None
    driver.member.subscribe(frozenset({"t"}), None)
    driver.joined(0)
    assert driver.member.leave("closed").member_epoch == epoch
    assert driver.ask() is None


def test_overdue_leaves_and_begins_anew_at_the_next_poll():
    driver = Driver()
    driver.joined(0)
    assert driver.member.overdue(driver.now).member_epoch == -1
    driver.step(StepKind.LOST, A)
    driver.step(StepKind.PREPARE)
    assert driver.request().member_epoch == 0
