import pytest

from barnabas.admin.config_types import ConfigResource, ConfigResourceType, config_text


@pytest.mark.parametrize(
    ("value", "text"), [(5, "5"), (0.5, "0.5"), (True, "true"), ("lz4", "lz4"), (None, None)]
)
def test_a_value_as_kafka_writes_it(value, text):
    assert config_text(value) == text


def test_only_a_broker_has_an_owner():
    assert ConfigResource.broker(3).broker_id == 3
    assert ConfigResource.broker().broker_id is None
    assert ConfigResource.topic("3").broker_id is None
    assert ConfigResource(ConfigResourceType.BROKER_LOGGER, "3").broker_id == 3
