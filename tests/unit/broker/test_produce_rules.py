import pytest

from barnabas.broker.config import BrokerConfig
from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.produce_rules import ProduceRules


@pytest.mark.parametrize(
    ("values", "level"),
    [
        ({"compression.type": "zstd", "compression.zstd.level": "19"}, 19),
        ({"compression.type": "gzip", "compression.zstd.level": "19"}, None),
        ({"compression.type": "gzip"}, 2),
        ({"compression.type": "producer", "compression.gzip.level": "9"}, None),
    ],
)
def test_the_level_of_the_configured_codec_applies(values, level):
    layers = ConfigLayers(BrokerConfig.parse({}))
    layers.set_topic("t", values)
    layers.set_default({} if len(values) > 1 else {"compression.gzip.level": "2"})
    assert ProduceRules(layers).of("t").level == level
