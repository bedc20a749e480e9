"""Combinations of a producer's settings that are valid, and those that are rejected."""

import pytest

from barnabas.model.errors import ConfigError
from barnabas.model.records import Codec


def test_defaults_are_kafkas(settings_of):
    settings = settings_of()
    assert settings.acks == -1
    assert settings.idempotent
    assert settings.batch_size == 16384
    assert settings.linger_ms == 5
    assert settings.max_in_flight == 5
    assert settings.codec is Codec.NONE


@pytest.mark.parametrize(
    "config", [{"acks": "1"}, {"retries": 0}, {"max_in_flight_requests_per_connection": 6}]
)
def test_idempotence_goes_off_by_itself_where_it_cannot_be(settings_of, config):
    assert not settings_of(**config).idempotent


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"acks": "0", "enable.idempotence": True},
            "enable.idempotence=true cannot be combined with",
        ),
        ({"acks": "1", "transactional.id": "t"}, "enable.idempotence=true cannot be combined with"),
        ({"transactional.id": "t", "enable.idempotence": False}, "transactional.id needs"),
        ({"delivery.timeout.ms": 100}, "delivery.timeout.ms=100 must be at least"),
        ({"partitioner.class": "murmur3"}, "partitioner.class='murmur3'"),
        ({"value.serializer": "yaml"}, "value.serializer='yaml': must be one of string"),
        ({"lingerms": 1}, "did you mean 'linger.ms'"),
    ],
)
def test_contradictions_are_rejected_by_name(settings_of, config, message):
    with pytest.raises(ConfigError, match=message):
        settings_of(**config)


def test_a_level_counts_only_when_asked_for(settings_of):
    assert settings_of(**{"compression.type": "zstd"}).codec_level is None
    level = settings_of(**{"compression.type": "zstd", "compression.zstd.level": 9}).codec_level
    assert level == 9


def test_a_configured_linger_is_not_the_default(settings_of):
    assert settings_of().linger_is_default
    assert not settings_of(**{"linger.ms": 5}).linger_is_default
    assert not settings_of(linger_ms=0).linger_is_default
