"""Configuration keys of the admin client."""

from barnabas.model.config import ConfigKey, ConfigTable, ConfigType, at_least
from barnabas.model.config_keys.client import CLIENT_KEYS
from barnabas.model.config_keys.other_names import ANY_CLIENT_ADVICE

ADMIN_KEYS = ConfigTable(
    [
        *CLIENT_KEYS,
        ConfigKey(
            "default.api.timeout.ms",
            ConfigType.INT,
            60_000,
            "Timeout of a call, retries included, when the call has no timeout argument.",
            at_least(1),
        ),
        ConfigKey(
            "retries",
            ConfigType.INT,
            2_147_483_647,
            "Accepted for compatibility: a call retries until its timeout.",
            at_least(0),
        ),
    ],
    ANY_CLIENT_ADVICE,
)
