"""Creates the application's objects that a configuration names: serializers, partitioners.

A setting may have an instance, a class, or the import path of a class: `package.module.Class` or
`package.module:Class`.
"""

import importlib
import logging
from typing import Any

from barnabas.model.errors import ConfigError

logger = logging.getLogger(__name__)


def load(path: str, setting: str) -> Any:
    """Returns the class or function with this import path.

    Raises:
        ConfigError: The module cannot be imported, or has no such class or function.
    """
    module_name, _, name = path.rpartition(":" if ":" in path else ".")
    try:
        found = getattr(importlib.import_module(module_name), name, None)
    except Exception as error:
        raise plugin_error(path, setting, error) from error
    if not callable(found):
        raise ConfigError(f"{setting}={path!r}: {module_name} has no class or function {name!r}")
    return found


def is_path(given: object) -> bool:
    """Whether a value looks like an import path, and not like the name of a built-in."""
    return isinstance(given, str) and ("." in given or ":" in given)


def instance_of(given: object, setting: str) -> Any:
    """Returns an instance of a class; any other object is returned as it is.

    Raises:
        ConfigError: The constructor raised.
    """
    if not isinstance(given, type):
        return given
    try:
        return given()
    except Exception as error:
        raise plugin_error(given, setting, error) from error


def configure(plugin: object, setting: str, *arguments: object) -> None:
    """Calls `configure()` of an object that has this method.

    Raises:
        ConfigError: `configure()` raised.
    """
    method = getattr(plugin, "configure", None)
    if method is None:
        return
    try:
        method(*arguments)
    except ConfigError:
        raise
    except Exception as error:
        raise plugin_error(plugin, setting, error) from error


def close(plugin: object) -> None:
    """Calls `close()` of an object that has this method; logs its exception."""
    method = getattr(plugin, "close", None)
    if method is None:
        return
    try:
        method()
    except Exception:
        logger.exception("%r failed in close()", plugin)


def plugin_error(given: object, setting: str, error: Exception) -> ConfigError:
    """Returns the error for an exception in the application's code."""
    return ConfigError(f"{setting}={given!r}: {type(error).__name__}: {error}")
