"""Importing what a command needs when it runs."""

import gc
import importlib
from typing import Any


def load(name: str) -> Any:
    """Import a module. Nothing that imports make is garbage: looking for some takes time."""
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.enable()
