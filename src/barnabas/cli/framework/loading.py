"""Importing what a command needs when it runs."""

import gc
import importlib
import sys
from typing import Any

from barnabas.model.errors import ConfigError


def load(name: str) -> Any:
    """Import a module. Nothing that imports make is garbage: looking for some takes time."""
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.enable()


def make_plugin(name: str, flag: str) -> Any:
    """An object of the class that a user names, or the function that has this name.

    Raises:
        ConfigError: It cannot be found or made.
    """
    found = _load_class(name, flag)
    if not isinstance(found, type):
        return found
    try:
        return found()
    except Exception as error:
        raise ConfigError(f"{flag} {name}: {type(error).__name__}: {error}") from error


def _load_class(name: str, flag: str) -> Any:
    """The class or function that a user names as `package.module:Class`.

    The current directory is searched first, as `python -m` does.

    Raises:
        ConfigError: There is no such module or class; `flag` tells where it was named.
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
