"""Settings that contradict each other are rejected at construction."""

import pytest

from barnabas.clients.group.settings import ConsumerSettings
from barnabas.model.errors import ConfigError

SERVERS = {"bootstrap.servers": "localhost:9092"}


def parse(**more):
    return ConsumerSettings.parse({**SERVERS, **more})


def test_defaults_are_kafkas():
    settings = parse(group_id="g")
    assert (settings.max_poll_records, settings.auto_commit, settings.reset.name) == (
        500,
        True,
        "latest",
    )
    assert settings.fetch_limits.partition_max_bytes == 1024**2
    assert [assignor.name for assignor in settings.group.assignors] == [
        "range",
        "cooperative-sticky",
    ]


def test_a_configured_fetch_size_holds_for_a_backlog_too():
    limits = parse().fetch_limits
    assert limits.backlog_share(1) == 4 * limits.partition_max_bytes
    for name in ("max.partition.fetch.bytes", "fetch.message.max.bytes"):
        assert parse(**{name: 1000}).fetch_limits.backlog_share(1) == 1000


def test_the_total_limit_adapts_unless_a_fetch_size_is_configured():
    assert parse().fetch_limits.adaptive
    for name in ("max.partition.fetch.bytes", "fetch.message.max.bytes", "fetch.max.bytes"):
        assert not parse(**{name: 1000}).fetch_limits.adaptive


def test_without_a_group_nothing_is_committed():
    settings = parse()
    assert settings.group is None
    assert not settings.auto_commit


@pytest.mark.parametrize(
    "wrong",
    [
        {"group_id": ""},
        {"enable_auto_commit": True},
        {"group_instance_id": "i"},
        {"group_id": "g", "heartbeat_interval_ms": 45_000},
        {"group_id": "g", "group_protocol": "consumer", "session_timeout_ms": 9000},
        {"group_id": "g", "group_protocol": "consumer", "partition_assignment_strategy": "range"},
        {"group_id": "g", "group_remote_assignor": "uniform"},
        {"group_id": "g", "group_protocol": "newest"},
        {"fetch_max_wait_ms": 30_000},
        {"auto_offset_reset": "first"},
        {"auto_offset_reset": "by_duration:soon"},
        {"isolation_level": "dirty"},
        {"value_deserializer": "utf-8"},
        {"partition_assignment_strategy": "fair", "group_id": "g"},
        {"max_poll_recordz": 5},
    ],
)
def test_contradictions(wrong):
    with pytest.raises(ConfigError):
        parse(**wrong)
