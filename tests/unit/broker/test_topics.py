"""Configuration of new topics."""

import pytest

from barnabas.broker.topics import check_topic_configs
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"retention.mss": "5"}, "'retention.mss'; did you mean 'retention.ms'?"),
        ({"wholly.other": "5"}, "unknown topic configuration 'wholly.other'"),
        ({"retention.ms": None}, "retention.ms needs a value"),
    ],
)
def test_a_wrong_configuration_is_named(given, message):
    with pytest.raises(BrokerError) as raised:
        check_topic_configs(given)
    assert raised.value.code is ErrorCode.INVALID_CONFIG
    assert str(raised.value).endswith(message)
