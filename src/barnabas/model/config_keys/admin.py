"""The admin client's keys."""

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
            "Time a call may take, retries included, when it is given no timeout of its own.",
            at_least(1),
        ),
        ConfigKey(
            "retries",
            ConfigType.INT,
            2_147_483_647,
            "Accepted for Kafka's sake: a call is tried again until its time is up.",
            at_least(0),
        ),
    ],
    ANY_CLIENT_ADVICE,
)
