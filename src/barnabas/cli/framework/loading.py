"""Imports of command modules and of classes that a user names."""

import gc
import importlib
import sys
from typing import Any

from barnabas.model.errors import ConfigError


def load(name: str) -> Any:
    """Imports a module with the garbage collector off: imports create no garbage, and searching
    for it costs start-up time.
    """
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.enable()


def make_plugin(name: str, flag: str) -> Any:
    """Returns an instance of the class, or the function, that a user names.

    Raises:
        ConfigError: The class cannot be found or instantiated.
    """
    found = _load_class(name, flag)
    if not isinstance(found, type):
        return found
    try:
        return found()
    except Exception as error:
        raise ConfigError(f"{flag} {name}: {type(error).__name__}: {error}") from error


def _load_class(name: str, flag: str) -> Any:
    """Returns the class or function that a user names as `package.module:Class`.

    The current directory is searched first, as `python -m` does.

    Raises:
        ConfigError: The module or class does not exist; the message begins with `flag`.
    """
    module_name, _, attribute = name.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        cause = f"{type(error).__name__}: {error}"
        raise ConfigError(f"{flag} {name}: cannot import {module_name}: {cause}") from error
    found: Any = module
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise ConfigError(f"{flag} {name}: {module_name} has no class or function {attribute!r}")
    return found
