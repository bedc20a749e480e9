import pytest

from barnabas.security.quotas import (
    CLIENT_ID,
    DEFAULT,
    IP,
    USER,
    Limit,
    QuotaTable,
    Rate,
    TokenBucket,
    entity_problem,
    quota_problem,
)

WHOM = {
    "users/alice/clients/etl": ({USER: "alice", CLIENT_ID: "etl"}, ("alice", "etl")),
    "users/alice/clients/<default>": ({USER: "alice", CLIENT_ID: DEFAULT}, ("alice", "etl")),
    "users/alice": ({USER: "alice"}, ("alice", "")),
    "users/<default>/clients/etl": ({USER: DEFAULT, CLIENT_ID: "etl"}, ("alice", "etl")),
    "users/<default>/clients/<default>": (
        {USER: DEFAULT, CLIENT_ID: DEFAULT},
        ("alice", "etl"),
    ),
    "users/<default>": ({USER: DEFAULT}, ("alice", "")),
    "clients/etl": ({CLIENT_ID: "etl"}, ("", "etl")),
    "clients/<default>": ({CLIENT_ID: DEFAULT}, ("", "etl")),
}


@pytest.mark.parametrize("first", range(len(WHOM)))
def test_the_most_particular_limit_is_in_force(first):
    entities = list(WHOM.values())[first:]
    table = QuotaTable(
        {frozenset(parts.items()): 100.0 + number for number, (parts, _) in enumerate(entities)}
    )
    assert table.limit("alice", "etl") == Limit(100.0, entities[0][1])


def test_users_without_a_quota_are_not_limited():
    assert not QuotaTable({})
    assert QuotaTable({}).limit("alice", "etl") is None
    assert QuotaTable({frozenset({(USER, "bob")}): 1.0}).limit("alice", "etl") is None


def test_an_address_has_its_own_limit_or_the_default():
    table = QuotaTable({frozenset({(IP, "10.0.0.1")}): 5.0, frozenset({(IP, DEFAULT)}): 9.0})
    assert table.ip_limit("10.0.0.1") == Limit(5.0, ("10.0.0.1", ""))
    assert table.ip_limit("10.0.0.2") == Limit(9.0, ("10.0.0.2", ""))
    assert QuotaTable({frozenset({(USER, "bob")}): 1.0}).ip_limit("10.0.0.1") is None


def test_a_rate_at_its_limit_does_not_wait():
    rate = Rate(0)
    for second in range(30):
        rate.record(100, second * 1000)
    assert rate.throttle_ms(100, 30_000) == 0


def test_a_start_is_no_burst():
    rate = Rate(0)
    rate.record(1000, 0)
    assert rate.throttle_ms(100, 0) == 0  # what ten seconds allow


def test_the_excess_is_worked_off():
    rate = Rate(0)
    rate.record(2000, 0)
    wait_ms = rate.throttle_ms(100, 0)
    assert wait_ms == 10_000  # 2000 bytes at 100 a second take 20 s, 10 of which are measured
    assert rate.throttle_ms(100, wait_ms + 1000) == 0


def test_old_windows_are_forgotten():
    rate = Rate(0, samples=2, window_ms=1000)
    rate.record(10_000, 0)
    assert rate.throttle_ms(100, 500) > 0
    assert rate.throttle_ms(100, 2_000) == 0
    rate.record(50, 10_000)
    assert rate.throttle_ms(100, 10_000) == 0


@pytest.mark.parametrize(
    ("now_ms", "measured_ms"), [(0, 10_000), (700, 10_700), (3_400, 10_400), (10_999, 10_999)]
)
def test_the_time_of_a_started_window_counts_beside_ten(now_ms, measured_ms):
    rate = Rate(0)
    rate.record(0, 0)
    assert rate.take(3000, 100, now_ms) == 30_000 - measured_ms


def test_a_window_is_kept_until_its_last_amount_is_too_old():
    rate = Rate(0)
    rate.record(1000, 0)
    rate.record(1000, 999)
    assert rate.throttle_ms(100, 11_998) == 20_000 - 11_998
    assert rate.throttle_ms(100, 11_999) == 0


def test_a_bucket_fills_again_at_the_limit():
    bucket = TokenBucket(0)
    assert bucket.take(110, 10, 0) == 0  # what eleven windows allow
    assert bucket.take(20, 10, 0) == 2000
    assert bucket.take(0, 10, 1500) == 500
    assert bucket.take(0, 10, 2000) == 0
    assert bucket.take(111, 10, 1_000_000) == 100


@pytest.mark.parametrize(
    ("entity", "fits"),
    [
        ({"user": "a"}, True),
        ({"user": None, "client-id": None}, True),
        ({"ip": "10.0.0.1"}, True),
        ({}, False),
        ({"ip": "10.0.0.1", "user": "a"}, False),
        ({"planet": "a"}, False),
        ({"user": ""}, False),
        ({"ip": None}, True),
        ({"ip": "::1"}, True),
        ({"ip": "localhost"}, False),
    ],
)
def test_invalid_quota_entities_are_found(entity, fits):
    assert (entity_problem(entity) is None) is fits


@pytest.mark.parametrize(
    ("key", "value", "fits"),
    [
        ("producer_byte_rate", 1024.0, True),
        ("request_percentage", 12.5, True),
        ("producer_byte_rate", 0.5, False),
        ("producer_byte_rate", 1e30, False),
        ("producer_byte_rate", 0.0, False),
        ("producer_byte_rate", float("inf"), False),
        ("producer_byte_rate", float("nan"), False),
        ("connection_creation_rate", 1.0, False),
        ("no_such_rate", 1.0, False),
    ],
)
def test_invalid_quota_values_are_found(key, value, fits):
    assert (quota_problem({"user": "a"}, key, value) is None) is fits


def test_quotas_of_addresses():
    assert quota_problem({"ip": "10.0.0.1"}, "connection_creation_rate", 5.0) is None
    assert quota_problem({"ip": "10.0.0.1"}, "producer_byte_rate", 5.0) is not None
