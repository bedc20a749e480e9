"""Settings of a run in environment variables; a wrong one ends the run with one line."""

import os
import re


class SettingError(Exception):
    """A setting has a wrong value, or leaves nothing to measure."""


def pattern(setting: str) -> re.Pattern[str]:
    """Returns the regular expression of a setting; without it, one that finds everything."""
    text = os.environ.get(setting, "")
    try:
        return re.compile(text)
    except re.error as error:
        raise SettingError(f"{setting}={text!r} is no regular expression: {error}") from error


def names(setting: str, known: tuple[str, ...], default: str = "") -> tuple[str, ...]:
    """Returns the names of a setting, which commas separate."""
    found = tuple(name for name in os.environ.get(setting, default).split(",") if name)
    for name in found:
        if name not in known:
            raise SettingError(f"{setting}: unknown name {name!r}; names: {', '.join(known)}")
    return found
