"""Configuration keys of the simple consumer."""

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
            "read_committed hides the records of open and aborted transactions.",
            one_of("read_uncommitted", "read_committed"),
        ),
        ConfigKey(
            "fetch.max.wait.ms",
            ConfigType.INT,
            500,
            "Longest time that the broker delays a fetch response.",
            at_least(0),
        ),
        ConfigKey(
            "fetch.min.bytes",
            ConfigType.INT,
            1,
            "Minimum bytes of a fetch response; the broker delays the response until it has them.",
            at_least(0),
        ),
        ConfigKey(
            "max.decompressed.batch.bytes",
            ConfigType.INT,
            256 * 1024**2,
            "Largest decompressed size of a batch.",
            at_least(1024),
        ),
        ConfigKey(
            "default.api.timeout.ms",
            ConfigType.INT,
            60_000,
            "Timeout of a call, retries after leader changes included.",
            at_least(0),
        ),
    ],
    ANY_CLIENT_ADVICE,
)
