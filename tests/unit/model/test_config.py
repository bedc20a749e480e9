"""Parsing configuration: types, names, defaults and error messages."""

import pytest

from barnabas.model.config import ConfigKey, ConfigTable, ConfigType, at_least, merged, one_of
from barnabas.model.config_keys.broker import BROKER_KEYS
from barnabas.model.config_keys.topic import BROKER_SYNONYMS, TOPIC_KEYS, topic_defaults
from barnabas.model.errors import ConfigError

TABLE = ConfigTable(
    [
        ConfigKey("linger.ms", ConfigType.LONG, 5, "wait", at_least(0)),
        ConfigKey("acks", ConfigType.STRING, "all", "acknowledgements", one_of("all", "0", "1")),
        ConfigKey("group.id", ConfigType.STRING, None, "group", required=True),
        ConfigKey("enable.idempotence", ConfigType.BOOLEAN, True, "no duplicates"),
        ConfigKey("topics", ConfigType.LIST, [], "names"),
        ConfigKey("ratio", ConfigType.DOUBLE, 0.5, "share"),
        ConfigKey("sasl.password", ConfigType.PASSWORD, None, "secret"),
    ]
)


def test_dotted_and_snake_case_names_mean_the_same_key():
    assert TABLE.parse({"group.id": "g", "linger_ms": 7})["linger.ms"] == 7
    assert TABLE.parse({"group_id": "g", "linger.ms": "7"})["linger.ms"] == 7


def test_defaults_fill_what_is_not_given():
    values = TABLE.parse({"group.id": "g"})
    assert values["acks"] == "all"
    assert values["enable.idempotence"] is True


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"enable.idempotence": "False"}, False),
        ({"topics": "a, b ,c"}, ["a", "b", "c"]),
        ({"topics": ("a", "b")}, ["a", "b"]),
        ({"ratio": "0.25"}, 0.25),
        ({"linger.ms": 3.0}, 3),
    ],
)
def test_values_are_parsed_by_type(given, expected):
    assert TABLE.parse({"group.id": "g", **given})[next(iter(given))] == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"linger.mss": 1}, "did you mean 'linger.ms'"),
        ({"nothing.like.it": 1}, "unknown configuration key 'nothing.like.it'"),
        ({"linger.ms": -1}, "linger.ms=-1: must be at least 0"),
        ({"linger.ms": "soon"}, "linger.ms='soon': must be a whole number"),
        ({"linger.ms": 1.5}, "must be a whole number"),
        ({"linger.ms": True}, "must be a whole number"),
        ({"linger.ms": 2**63}, "must be between"),
        ({"acks": "2"}, "must be one of: all, 0, 1"),
        ({"enable.idempotence": "yes"}, "must be true or false"),
        ({"ratio": "half"}, "must be a number"),
        ({"acks": None}, "must not be None"),
        ({"acks": object()}, "must be text"),
        ({"linger.ms": 1, "linger_ms": 2}, "linger.ms is given twice"),
    ],
)
def test_a_wrong_key_or_value_names_itself(given, message):
    with pytest.raises(ConfigError, match=message.replace(".", r"\.")):
        TABLE.parse({"group.id": "g", **given})


def test_a_missing_required_key_is_named():
    with pytest.raises(ConfigError, match=r"missing required configuration: group\.id"):
        TABLE.parse({})


def test_rendering_is_the_property_file_form():
    assert TABLE["enable.idempotence"].render(True) == "true"
    assert TABLE["topics"].render(["a", "b"]) == "a,b"
    assert TABLE["group.id"].render(None) is None
    assert TABLE["sasl.password"].sensitive


def test_every_topic_synonym_is_a_broker_key():
    assert set(BROKER_SYNONYMS) <= {key.name for key in TOPIC_KEYS}
    for synonyms in BROKER_SYNONYMS.values():
        assert all(name in BROKER_KEYS for name in synonyms)


def test_broker_values_become_topic_defaults_in_the_topics_unit():
    defaults = topic_defaults(BROKER_KEYS.parse({"log.retention.minutes": 3, "log.roll.hours": 2}))
    assert defaults["retention.ms"] == 180_000
    assert defaults["segment.ms"] == 7_200_000
    assert defaults["max.message.bytes"] == 1_048_588


def test_defaults_of_both_tables_agree():
    defaults = topic_defaults(BROKER_KEYS.parse({}))
    assert defaults == {key.name: key.default for key in TOPIC_KEYS}


def test_defaults_pass_their_own_validators():
    for key in (*BROKER_KEYS, *TOPIC_KEYS):
        if key.default is not None:
            assert key.parse(key.render(key.default)) == key.default, key.name


def test_a_configuration_that_is_not_a_mapping_is_explained():
    assert merged({"a": 1}, {"b": 2}) == {"a": 1, "b": 2}
    assert merged(None, {}) == {}
    with pytest.raises(ConfigError, match="must be a mapping or keywords, not 'orders'"):
        merged("orders", {})
