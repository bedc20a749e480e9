import pytest
from support.groups.driver import GroupDriver, consumer_request, image, owned_of, topic_id

from barnabas.groups.step import GroupConfig, TimerKind
from barnabas.model.error_codes import ErrorCode as E


def two_members(driver):
    """Members a and b own two partitions of t each; returns their partitions and the epoch."""
    driver.consumer_heartbeat("a")
    driver.consumer_heartbeat("b")
    a = owned_of(driver.consumer_heartbeat("a", 1).reply)
    reply = driver.consumer_heartbeat("a", 1, owned=a).reply
    b = owned_of(driver.consumer_heartbeat("b", 2).reply)
    assert reply.member_epoch == 2
    assert driver.state() == "Stable"
    return a, b


def test_first_member_gets_everything_at_once():
    driver = GroupDriver()
    reply = driver.consumer_heartbeat("a").reply
    assert reply.error_code is E.NONE
    assert (reply.member_id, reply.member_epoch, reply.heartbeat_interval_ms) == ("a", 1, 5_000)
    assert owned_of(reply) == {"t": [0, 1, 2, 3]}
    assert driver.state() == "Stable"


def test_coordinator_makes_an_id_for_version_0_only():
    driver = GroupDriver()
    assert driver.consumer_heartbeat("").reply.member_id == "id-1"
    refused = driver.consumer_heartbeat("", generates_member_id=True)
    assert refused.code is E.INVALID_REQUEST


def test_partitions_change_hands_only_after_revocation():
    driver = GroupDriver()
    driver.consumer_heartbeat("a")
    b = driver.consumer_heartbeat("b").reply
    assert (b.member_epoch, owned_of(b)) == (2, {})
    revoke = driver.consumer_heartbeat("a", 1).reply
    assert revoke.member_epoch == 1
    keep = owned_of(revoke)
    assert len(keep["t"]) == 2
    assert driver.consumer_heartbeat("b", 2).reply.assignment is None
    done = driver.consumer_heartbeat("a", 1, owned=keep).reply
    assert done.member_epoch == 2
    got = owned_of(driver.consumer_heartbeat("b", 2).reply)
    assert sorted(keep["t"] + got["t"]) == [0, 1, 2, 3]


def test_steady_heartbeats_write_nothing():
    driver = GroupDriver()
    two_members(driver)
    appends = driver.appends
    for _ in range(3):
        reply = driver.consumer_heartbeat("a", 2).reply
        assert (reply.error_code, reply.assignment) == (E.NONE, None)
    assert driver.appends == appends


def test_a_full_request_gets_the_assignment_again():
    driver = GroupDriver()
    a, _ = two_members(driver)
    reply = driver.consumer_heartbeat(
        "a", 2, owned=a, topics=("t",), rebalance_timeout_ms=60_000
    ).reply
    assert owned_of(reply) == a


def test_a_first_heartbeat_may_be_repeated_after_a_lost_response():
    driver = GroupDriver()
    driver.consumer_heartbeat("a")
    again = driver.consumer_heartbeat("a").reply
    assert (again.error_code, again.member_epoch) == (E.NONE, 1)
    assert owned_of(again) == {"t": [0, 1, 2, 3]}


@pytest.mark.parametrize(("epoch", "owned"), [(1, None), (1, {"t": [0, 1, 2, 3]}), (3, {})])
def test_wrong_epochs_are_fenced(epoch, owned):
    driver = GroupDriver()
    two_members(driver)
    answer = driver.consumer_heartbeat("a", epoch, owned=owned)
    assert answer.code is E.FENCED_MEMBER_EPOCH
    assert "abandon all its partitions" in answer.reply.error_message


def test_unknown_group_and_member():
    driver = GroupDriver()
    assert driver.consumer_heartbeat("a", 1).code is E.GROUP_ID_NOT_FOUND
    driver.consumer_heartbeat("a")
    assert driver.consumer_heartbeat("b", 1).code is E.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"group": ""}, E.INVALID_REQUEST),
        ({"instance_id": ""}, E.INVALID_REQUEST),
        ({"rack_id": ""}, E.INVALID_REQUEST),
        ({"rebalance_timeout_ms": -1}, E.INVALID_REQUEST),
        ({"owned": {"t": [1]}}, E.INVALID_REQUEST),
        ({"epoch": -3}, E.INVALID_REQUEST),
        ({"epoch": -2}, E.INVALID_REQUEST),
        ({"epoch": 1, "member_id": ""}, E.INVALID_REQUEST),
        ({"server_assignor": "sticky"}, E.UNSUPPORTED_ASSIGNOR),
        ({"subscribed_topic_regex": "(["}, E.INVALID_REGULAR_EXPRESSION),
    ],
)
def test_an_invalid_heartbeat_creates_no_group(change, code):
    driver = GroupDriver()
    answer = driver.consumer_heartbeat(**({"member_id": "a"} | change))
    assert answer.code is code
    assert driver.shard.list_groups() == []


def test_join_without_any_subscription():
    driver = GroupDriver()
    bare = consumer_request("a", 0)._replace(subscribed_topic_names=None)
    outcome = driver.shard.consumer_group_heartbeat(bare, 0)
    assert outcome.reply.error_code is E.INVALID_REQUEST
    empty = bare._replace(subscribed_topic_names=())
    assert driver.shard.consumer_group_heartbeat(empty, 0).reply is None  # records come first


def test_new_protocol_can_be_switched_off_and_on():
    driver = GroupDriver(GroupConfig(rebalance_protocols=("classic",)))
    assert driver.consumer_heartbeat("a").code is E.UNSUPPORTED_VERSION
    driver.shard.reconfigure(GroupConfig())
    assert driver.consumer_heartbeat("a").code is E.NONE


def test_group_is_full():
    driver = GroupDriver(GroupConfig(consumer_max_size=1))
    driver.consumer_heartbeat("a")
    assert driver.consumer_heartbeat("b").code is E.GROUP_MAX_SIZE_REACHED
    assert driver.consumer_heartbeat("a", 1).code is E.NONE


def test_the_bytes_of_subscriptions_are_limited():
    driver = GroupDriver(GroupConfig(max_bytes=10_000))
    many = tuple(f"topic-{number}" for number in range(30))
    assert driver.consumer_heartbeat("a", topics=many).code is E.NONE
    assert driver.consumer_heartbeat("b", topics=many).code is E.NONE
    assert driver.consumer_heartbeat("c", topics=many).code is E.GROUP_MAX_SIZE_REACHED
    assert driver.consumer_heartbeat("a", -1).code is E.NONE
    assert driver.consumer_heartbeat("c", topics=many).code is E.NONE


def test_settings_of_one_group_win_over_the_brokers():
    driver = GroupDriver()
    own = {"consumer.session.timeout.ms": 50_000, "consumer.heartbeat.interval.ms": 7_000}
    driver.shard._around.group_settings = lambda group_id: own if group_id == "g" else {}
    assert driver.consumer_heartbeat("a").reply.heartbeat_interval_ms == 7_000
    assert driver.consumer_heartbeat("a", group="other").reply.heartbeat_interval_ms == 5_000
    driver.advance(49_000)
    assert driver.consumer_heartbeat("a", 1).code is E.NONE
    assert driver.consumer_heartbeat("a", 1, group="other").code is E.UNKNOWN_MEMBER_ID


def test_silent_member_is_removed_and_its_partitions_move():
    driver = GroupDriver()
    two_members(driver)
    driver.advance(44_000)
    driver.consumer_heartbeat("a", 2)
    driver.advance(1_000)
    assert driver.consumer_heartbeat("b", 2).code is E.UNKNOWN_MEMBER_ID
    reply = driver.consumer_heartbeat("a", 2).reply
    assert (reply.member_epoch, owned_of(reply)) == (3, {"t": [0, 1, 2, 3]})


def test_member_that_does_not_revoke_in_time_is_removed():
    driver = GroupDriver()
    driver.consumer_heartbeat("a")
    driver.consumer_heartbeat("b")
    driver.consumer_heartbeat("a", 1)
    assert TimerKind.REVOCATION in {key.kind for key in driver.timers}
    for _ in range(6):
        driver.advance(10_000)
        driver.consumer_heartbeat("b", 2)
        answer = driver.consumer_heartbeat("a", 1, owned={"t": [0, 1, 2, 3]})
    assert answer.code is E.UNKNOWN_MEMBER_ID
    (b,) = driver.shard.describe_consumer_group("g").members
    assert b.assignment[0].owned.partitions == (0, 1, 2, 3)


def test_revocation_timer_goes_once_revoked():
    driver = GroupDriver()
    two_members(driver)
    assert TimerKind.REVOCATION not in {key.kind for key in driver.timers}


def test_a_member_that_leaves_gives_its_partitions_to_the_others():
    driver = GroupDriver()
    two_members(driver)
    reply = driver.consumer_heartbeat("b", -1).reply
    assert (reply.error_code, reply.member_epoch) == (E.NONE, -1)
    assert owned_of(driver.consumer_heartbeat("a", 2).reply) == {"t": [0, 1, 2, 3]}
    driver.consumer_heartbeat("a", -1)
    assert driver.state() == "Empty"
    assert not driver.timers


def test_changed_subscription_gives_a_new_target():
    driver = GroupDriver(topics=image(t=2, u=2))
    driver.consumer_heartbeat("a")
    reply = driver.consumer_heartbeat("a", 1, topics=("u",), owned={"t": [0, 1]}).reply
    assert (reply.member_epoch, owned_of(reply)) == (1, {})
    reply = driver.consumer_heartbeat("a", 1, owned={}).reply
    assert (reply.member_epoch, owned_of(reply)) == (2, {"u": [0, 1]})


def test_new_partitions_and_topics_are_noticed():
    driver = GroupDriver(topics=image(t=2))
    driver.consumer_heartbeat("a", topics=("t", "later"))
    driver.topics.replace({"t": (topic_id("t"), 3), "later": (topic_id("later"), 1)})
    reply = driver.consumer_heartbeat("a", 1).reply
    assert (reply.member_epoch, owned_of(reply)) == (2, {"later": [0], "t": [0, 1, 2]})


def test_metadata_change_is_noticed_though_the_first_append_failed():
    driver = GroupDriver(topics=image(t=2))
    driver.consumer_heartbeat("a")
    driver.topics.replace({"t": (topic_id("t"), 3)})
    driver.fail_next = E.NOT_ENOUGH_REPLICAS
    assert driver.consumer_heartbeat("a", 1).code is E.COORDINATOR_NOT_AVAILABLE
    assert owned_of(driver.consumer_heartbeat("a", 1).reply) == {"t": [0, 1, 2]}


def test_deleted_topic_is_taken_away():
    driver = GroupDriver(topics=image(t=2, u=1))
    driver.consumer_heartbeat("a", topics=("t", "u"))
    driver.topics.replace({"t": (topic_id("t"), 2)})
    driver.consumer_heartbeat("a", 1)
    reply = driver.consumer_heartbeat("a", 1, owned={"t": [0, 1]}).reply
    assert reply.member_epoch == 2
    assert driver.shard.describe_consumer_group("g").members[0].assignment[0].topic == "t"


def test_failed_append_changes_nothing():
    driver = GroupDriver()
    two_members(driver)
    before = driver.shard.describe_consumer_group("g")
    for request in ({"member_id": "c"}, {"member_id": "b", "epoch": -1}):
        driver.fail_next = E.NOT_LEADER_OR_FOLLOWER
        assert driver.consumer_heartbeat(**request).code is E.NOT_COORDINATOR
        assert driver.shard.describe_consumer_group("g") == before


def test_expiry_that_could_not_be_stored_is_tried_again():
    driver = GroupDriver()
    driver.consumer_heartbeat("a")
    driver.fail_next = E.NOT_ENOUGH_REPLICAS
    driver.advance(45_000)
    assert driver.state() == "Stable"
    driver.advance(5_000)
    assert driver.state() == "Empty"


def test_a_pattern_subscription_follows_the_topics():
    driver = GroupDriver(topics=image(orders_eu=1, orders_us=1, other=1, __consumer_offsets=50))
    request = consumer_request("a")._replace(
        subscribed_topic_names=None, subscribed_topic_regex=".*_.*"
    )
    reply = driver.run(driver.shard.consumer_group_heartbeat(request, driver.now_ms)).reply
    assert set(owned_of(reply)) == {"orders_eu", "orders_us"}
    names = ("orders_eu", "orders_us", "orders_jp")
    driver.topics.replace({name: (topic_id(name), 1) for name in names})
    reply = driver.consumer_heartbeat("a", 1).reply
    assert set(owned_of(reply)) == set(names)
    driver.reload(compacted=True)
    described = driver.shard.describe_consumer_group("g")
    assert described.members[0].subscribed_topic_regex == ".*_.*"
    assert driver.consumer_heartbeat("a", 2).reply.assignment is None


def test_the_assignor_that_members_prefer_is_used():
    driver = GroupDriver(topics=image(t=2, u=2))
    for name in ("a", "b"):
        driver.consumer_heartbeat(name, topics=("t", "u"), server_assignor="range")
    described = driver.shard.describe_consumer_group("g")
    assert described.assignor_name == "range"
    targets = [{n.topic: n.owned.partitions for n in m.target_assignment}
               for m in described.members]  # fmt: skip
    assert targets == [{"t": (0,), "u": (0,)}, {"t": (1,), "u": (1,)}]


def test_reload_keeps_everything():
    driver = GroupDriver()
    driver.consumer_heartbeat("a")
    driver.consumer_heartbeat("b", rack_id="r", instance_id="i", server_assignor="uniform")
    driver.consumer_heartbeat("a", 1)
    before = driver.shard.describe_consumer_group("g")
    for compacted in (False, True):
        driver.reload(compacted=compacted)
        assert driver.shard.describe_consumer_group("g") == before
        assert {key.kind for key in driver.timers} == {TimerKind.SESSION, TimerKind.REVOCATION}


def test_static_member_returns_to_its_partitions():
    driver = GroupDriver()
    driver.consumer_heartbeat("a", instance_id="i")
    driver.consumer_heartbeat("b")
    left = driver.consumer_heartbeat("a", -2, instance_id="i").reply
    assert left.member_epoch == -2
    epoch = driver.shard.describe_consumer_group("g").group_epoch
    reply = driver.consumer_heartbeat("a2", instance_id="i").reply
    assert reply.error_code is E.NONE
    assert len(owned_of(reply)["t"]) == 2
    assert driver.shard.describe_consumer_group("g").group_epoch == epoch


def test_a_static_member_that_has_not_left_keeps_its_membership():
    driver = GroupDriver()
    driver.consumer_heartbeat("a", instance_id="i")
    answer = driver.consumer_heartbeat("a2", instance_id="i")
    assert answer.code is E.UNRELEASED_INSTANCE_ID


def test_static_member_is_fenced_by_its_successor():
    driver = GroupDriver()
    driver.consumer_heartbeat("a", instance_id="i")
    driver.consumer_heartbeat("a", -2, instance_id="i")
    driver.consumer_heartbeat("a2", instance_id="i")
    for epoch in (1, -1, -2):
        answer = driver.consumer_heartbeat("a", epoch, instance_id="i")
        assert answer.code is E.FENCED_INSTANCE_ID
    assert driver.consumer_heartbeat("x", 1, instance_id="?").code is E.UNKNOWN_MEMBER_ID


def test_static_member_that_stays_away_is_removed():
    driver = GroupDriver()
    driver.consumer_heartbeat("a", instance_id="i")
    driver.consumer_heartbeat("a", -2, instance_id="i")
    driver.advance(45_000)
    assert driver.state() == "Empty"
