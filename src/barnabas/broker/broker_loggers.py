"""Log levels of a running broker, as configuration of the resource type BROKER_LOGGER (KIP-412).

Names are those of Python's loggers, levels are Kafka's. Levels are not stored: a
restart resets them.
"""

import logging

from barnabas.broker.config_layers import ConfigEntry, Source
from barnabas.model.config import ConfigKey, ConfigType
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError

ROOT = "root"
_LEVELS = {
    "TRACE": 5,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}


def describe_loggers() -> list[ConfigEntry]:
    """Returns every logger of this process with its effective level."""
    names = [ROOT, *sorted(logging.root.manager.loggerDict)]
    return [_entry(name, _level_name(_logger(name).getEffectiveLevel())) for name in names]


def check_level(name: str, level: str | None) -> None:
    """Raises BrokerError if logger or level does not exist; None removes the level."""
    if name != ROOT and name not in logging.root.manager.loggerDict:
        raise BrokerError(ErrorCode.INVALID_CONFIG, f"Logger {name} does not exist!")
    if level is None and name == ROOT:
        text = "Removing the log level of the root logger is not allowed"
        raise BrokerError(ErrorCode.INVALID_REQUEST, text)
    if level is not None and level.upper() not in _LEVELS:
        known = ", ".join(sorted(_LEVELS))
        text = (
            f"Cannot set the log level of {name} to {level} as it is not a supported log level. "
            f"Valid log levels are {known}"
        )
        raise BrokerError(ErrorCode.INVALID_CONFIG, text)


def set_level(name: str, level: str | None) -> None:
    """Applies a checked level."""
    _logger(name).setLevel(logging.NOTSET if level is None else _LEVELS[level.upper()])


def _logger(name: str) -> logging.Logger:
    return logging.getLogger() if name == ROOT else logging.getLogger(name)


def _level_name(level: int) -> str:
    return max((number, name) for name, number in _LEVELS.items() if number <= max(level, 5))[1]


def _entry(name: str, level: str) -> ConfigEntry:
    key = ConfigKey(name, ConfigType.STRING, None, "Log level.")
    return ConfigEntry(key, level, Source.BROKER_LOGGER, False, ())
