"""Differences from the expected observations that are known, each with its reason.

The key is a scenario and a client, with a broker where only that one differs. `outcomes` are the
observations that this client may show instead of the expected ones; the run fails when it shows
others. Several outcomes stand for a result that varies from run to run, `EXPECTED` among them for
one that is sometimes as expected. `ANY` is a value that depends on timing.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Difference:
    reason: str
    outcomes: tuple[dict[str, Any], ...]

    def allows(self, expected: dict[str, Any], observed: dict[str, Any]) -> bool:
        """Returns whether one of the outcomes has been observed."""
        return any(_fits({**expected, **outcome}, observed) for outcome in self.outcomes)


def _fits(wanted: dict[str, Any], observed: dict[str, Any]) -> bool:
    return wanted.keys() == observed.keys() and all(
        value is ANY or observed[name] == value for name, value in wanted.items()
    )


ANY = object()
EXPECTED: dict[str, Any] = {}


_LIBRDKAFKA = {
    "a_leader_dies_under_records_without_keys": (
        "librdkafka may choose the dead partition until its metadata is refreshed",
        {"delivered": ANY, "avoided": ANY},
    ),
    "acks_that_do_not_exist": (
        "librdkafka takes any number from -1 to 1000 for acks",
        {"accepted": True},
    ),
    "the_error_of_a_removed_member": (
        "librdkafka raises UNKNOWN_MEMBER_ID or, once it noticed, that the assignment is lost",
        [{"error": "UNKNOWN_MEMBER_ID"}, {"error": "_ASSIGNMENT_LOST"}],
    ),
    "a_pattern_drops_a_deleted_topic": (
        "librdkafka may keep a deleted topic assigned until the group rebalances",
        [EXPECTED, {"assigned": 2}],
    ),
    "records_without_keys_are_spread_evenly": (
        "librdkafka keeps one partition for 10 ms, however many records that are",
        [EXPECTED, {"within_half_of_fair_share": False}],
    ),
    "a_failed_record_in_a_transaction": (
        "librdkafka still waits for its new epoch and drops the first record",
        [EXPECTED, {"after": "CLOSED"}],
    ),
    "subscribe_and_assign_do_not_mix": (
        "librdkafka lets assign() override a subscription",
        {"error": "none"},
    ),
    "a_blank_topic_name": ("the name is not checked before it is used", {"error": "none"}),
    "no_topic_name": ("the name is not checked before it is used", {"error": "none"}),
    "polling_without_a_subscription": (
        "poll() without a subscription returns nothing",
        {"error": "none"},
    ),
    "subscribing_to_nothing_leaves": ("an empty list is rejected", {"members": 1}),
    "unsubscribe_leaves_the_group": (
        "librdkafka leaves the group with the next poll()",
        {"after": 1},
    ),
    "deleted_records_without_a_reset_policy": (
        "librdkafka has one error for a missing offset and one out of range",
        {"error": "NO_OFFSET"},
    ),
    "seek_to_a_negative_offset": (
        "librdkafka reads small negative offsets as positions from the end",
        {"error": "none"},
    ),
}

_UNSTEADY = (
    "kafka-python joins the group and looks up offsets inside poll() and stops at its time-out, "
    "so it may need more polls than the scenario makes"
)

_KAFKA_PYTHON = {
    "a_pattern_drops_a_deleted_topic": (
        "kafka-python may keep a deleted topic assigned until the group rebalances",
        [EXPECTED, {"assigned": 2}, {"assigned": 2, "commit": "REBALANCE_IN_PROGRESS"}],
    ),
    "a_topic_is_recreated_under_a_group": (
        "kafka-python does not notice that the topic was created again",
        {"values": []},
    ),
    "a_topic_is_recreated_with_fewer_partitions": (
        "kafka-python keeps the former number of partitions",
        [EXPECTED, {"failed": ANY, "partitions": [0]}, {"failed": 12, "partitions": []}],
    ),
    "one_member_has_all_partitions": (
        "kafka-python may assign before its metadata has the topic, and then keeps no partitions",
        [EXPECTED, {"partitions": 0}],
    ),
    "a_pattern_finds_a_new_topic": (_UNSTEADY, [EXPECTED, {"values": []}]),
    "without_a_reset_policy": (_UNSTEADY, [EXPECTED, {"error": "none"}]),
    "a_slow_member_closes": (_UNSTEADY, [EXPECTED, {"committed": {0: 5}}]),
    "a_committed_offset_wins_over_the_reset": (_UNSTEADY, [EXPECTED, {"offsets": []}]),
    "a_group_reads_new_partitions": (
        _UNSTEADY,
        [EXPECTED, {"partitions": [0], "records": 1}, {"records": ANY}],
    ),
    "subscribing_again_replaces_the_topics": (_UNSTEADY, [EXPECTED, {"topics": []}]),
    "a_handover_loses_and_repeats_nothing": (_UNSTEADY, [EXPECTED, {"all_read": False}]),
    "a_static_member_keeps_its_partitions": (_UNSTEADY, [EXPECTED, {"same": False}]),
    "more_members_than_partitions": (
        _UNSTEADY,
        [EXPECTED, {"shares": [0, 0, 1]}, {"shares": [0, 0, 2]}],
    ),
    "commit_covers_only_what_poll_returned": (_UNSTEADY, [EXPECTED, {"read": 0, "committed": {}}]),
    "auto_commit_on_close": (
        "kafka-python's commit at close() may come too late",
        [EXPECTED, {"committed": {}}],
    ),
    "unsubscribe_commits_nothing": (
        "kafka-python commits, depending on timing",
        [EXPECTED, {"committed": {0: 10}}],
    ),
    "a_record_over_the_topics_limit": (
        "kafka-python's idempotent producer fails after a rejected record",
        {"next": "MESSAGE_TOO_LARGE"},
    ),
    "a_failed_record_does_not_block_the_rest": (
        "kafka-python's idempotent producer fails after a rejected record",
        {"leftover": 5, "next": "MESSAGE_TOO_LARGE"},
    ),
    "a_failed_record_in_a_transaction": (
        "kafka-python continues with the sequence number of the rejected record",
        {"after": "OUT_OF_ORDER_SEQUENCE_NUMBER"},
    ),
    "reading_creates_no_topic": (
        "kafka-python asks for metadata with automatic creation",
        {"created": True},
    ),
    "a_topic_name_that_is_not_allowed": (
        "kafka-python checks the name itself and raises ValueError",
        {"error": "MISUSE"},
    ),
    "without_acknowledgement_no_offset": (
        "kafka-python reports the place in the batch as offset",
        {"offset_known": True},
    ),
    "acks_that_do_not_exist": ("kafka-python checks acks at the first record", {"accepted": True}),
    "a_removed_member_unsubscribes": (
        "unsubscribe() of kafka-python may commit without a generation",
        [EXPECTED, {"committed": {0: 5}}],
    ),
    "polling_without_a_subscription": (
        "poll() without a subscription returns nothing",
        {"error": "none"},
    ),
    "subscribing_to_nothing_leaves": ("an empty list is rejected", {"members": 1}),
    "close_aborts_an_open_transaction": (
        "kafka-python leaves the transaction open until its time-out",
        {"values": []},
    ),
}

_NO_GENERATION = "aiokafka may commit without a generation when it leaves"

_AIOKAFKA = {
    "a_pattern_drops_a_deleted_topic": (
        "aiokafka may keep a deleted topic assigned until the group rebalances",
        [EXPECTED, {"assigned": 2}],
    ),
    "a_failed_record_does_not_block_the_rest": (
        "aiokafka continues with the sequence number of the rejected record",
        {"leftover": 5, "next": "OUT_OF_ORDER_SEQUENCE_NUMBER"},
    ),
    "a_failed_record_in_a_transaction": (
        "aiokafka continues with the sequence number of the rejected record",
        {"after": "OUT_OF_ORDER_SEQUENCE_NUMBER"},
    ),
    "a_topic_name_that_is_not_allowed": (
        "aiokafka reports every topic without metadata as unknown",
        {"error": "UNKNOWN_TOPIC_OR_PARTITION"},
    ),
    "a_listener_hears_of_rebalances": (
        "aiokafka does not call the listener at stop()",
        {"events": ["assigned"]},
    ),
    "an_empty_topic_name": ("the name is not checked before it is used", {"error": "none"}),
    "a_blank_topic_name": ("the name is not checked before it is used", {"error": "none"}),
    "no_topic_name": ("the name is not checked before it is used", {"error": "none"}),
    "assigning_nothing_unsubscribes": (
        "aiokafka keeps the kind of the subscription until unsubscribe()",
        {"subscribe": "MISUSE"},
    ),
    "polling_without_a_subscription": (
        "getmany() waits for a subscription, without regard to its time-out",
        {"error": "TIMEOUT"},
    ),
    "subscribing_to_nothing_leaves": ("an empty list is rejected", {"members": 1}),
    "a_removed_member_closes": (_NO_GENERATION, [EXPECTED, {"committed": {0: 5}}]),
    "a_removed_member_unsubscribes": (_NO_GENERATION, [EXPECTED, {"committed": {0: 5}}]),
    "a_slow_member_closes": (_NO_GENERATION, [EXPECTED, {"committed": {0: 5}}]),
    "close_aborts_an_open_transaction": (
        "aiokafka leaves the transaction open until its time-out",
        {"values": []},
    ),
    "beginning_before_init": (
        "start() of aiokafka does what init_transactions() does",
        {"refused": False},
    ),
    "describe_an_unknown_topic": (
        "aiokafka asks for metadata with automatic creation, and may see the created topic",
        [EXPECTED, {"error": "none"}],
    ),
    "a_change_keeps_other_settings": (
        "aiokafka uses AlterConfigs, which replaces all settings of a topic",
        {"kept": "delete"},
    ),
}

_TABLES = {
    "confluent-kafka": _LIBRDKAFKA,
    "kafka-python": _KAFKA_PYTHON,
    "aiokafka": _AIOKAFKA,
}

DIFFERENCES: dict[tuple[str, ...], Difference] = {
    (name, client): Difference(reason, tuple(found) if isinstance(found, list) else (found,))
    for client, entries in _TABLES.items()
    for name, (reason, found) in entries.items()
}
