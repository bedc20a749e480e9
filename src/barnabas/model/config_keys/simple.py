"""Keys of the simple consumer: connections, and how to read."""

from barnabas.model.config import ConfigKey, ConfigTable, ConfigType, at_least, one_of
from barnabas.model.config_keys.client import CLIENT_KEYS
from barnabas.model.config_keys.other_names import ANY_CLIENT_ADVICE

SIMPLE_KEYS = ConfigTable(
    [
        *CLIENT_KEYS,
        ConfigKey(
            "isolation.level",
            ConfigType.STRING,
            "read_uncommitted",
            "Whether records of open or aborted transactions are seen.",
            one_of("read_uncommitted", "read_committed"),
        ),
        ConfigKey(
            "fetch.max.wait.ms",
            ConfigType.INT,
            500,
            "How long the broker may wait for fetch.min.bytes.",
            at_least(0),
        ),
        ConfigKey("fetch.min.bytes", ConfigType.INT, 1, "Bytes a fetch waits for.", at_least(0)),
        ConfigKey(
            "max.decompressed.batch.bytes",
            ConfigType.INT,
            256 * 1024**2,
            "Largest size a batch may unpack to.",
            at_least(1024),
        ),
        ConfigKey(
            "default.api.timeout.ms",
            ConfigType.INT,
            60_000,
            "Longest time a call tries, leader changes included.",
            at_least(0),
        ),
    ],
    ANY_CLIENT_ADVICE,
)
