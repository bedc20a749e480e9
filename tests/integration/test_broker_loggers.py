"""Log levels of a running broker: the request log, turned on and off by IncrementalAlterConfigs."""

import logging

import pytest

from barnabas.admin import ConfigResource, ConfigResourceType
from barnabas.cli.framework.options import log_levels
from barnabas.testing import Broker

pytestmark = pytest.mark.integration


def test_the_request_log_can_be_turned_on_and_off(caplog):
    with Broker(in_memory=True) as broker:
        number = str(broker.admin.describe_cluster().brokers[0].id)
        loggers = ConfigResource(ConfigResourceType.BROKER_LOGGER, number)
        topic = broker.topic()
        broker.admin.alter_configs({loggers: {"barnabas.request": "DEBUG"}})
        try:
            broker.produce(topic, "x")
        finally:
            broker.admin.alter_configs({loggers: {"barnabas.request": None}})
        lines = [r.getMessage() for r in caplog.records if r.name == "barnabas.request"]
        produced = next(line for line in lines if line.startswith("PRODUCE v"))
        assert "principal=User:ANONYMOUS" in produced
        assert "total=" in produced
        assert not logging.getLogger("barnabas.request").isEnabledFor(logging.DEBUG)


@pytest.mark.parametrize("text", ["", "loud", "contrller=debug", "controller=loud", "info,"])
def test_a_typo_in_log_levels_is_named(text):
    with pytest.raises(Exception, match="is not a"):
        log_levels(text)
