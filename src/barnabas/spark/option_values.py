"""Reading option texts: numbers, words, times. Every error names the option and the text."""

import difflib
import re
from collections.abc import Mapping

from barnabas.model.errors import ConfigError
from barnabas.spark.client_settings import KAFKA_PREFIX

_TIME = re.compile(r"\s*(\d+)\s*([a-z]*)\s*")
_UNIT_MS = {
    "": 1.0,
    "us": 0.001,
    "ms": 1.0,
    "s": 1000.0,
    "m": 60_000.0,
    "min": 60_000.0,
    "h": 3_600_000.0,
    "d": 86_400_000.0,
}


SPARK_TABLE_PROPERTIES = (
    "provider",
    "owner",
    "comment",
    "collation",
    "location",
    "path",
    "external",
    "is_managed_location",
)
"""Properties that Spark adds to a table's options; `path` also to those of a read or a write."""


class OptionTexts:
    """Options by Spark's spelling; names are compared without regard to case."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = {name.lower(): (name, text) for name, text in given.items()}

    def text(self, name: str) -> str | None:
        found = self._given.get(name.lower())
        return None if found is None else found[1]

    def has(self, name: str) -> bool:
        return name.lower() in self._given

    def names(self) -> list[str]:
        """Returns the names in the user's spelling, if Spark has kept it."""
        return [name for name, _ in self._given.values()]

    def flag(self, name: str, default: bool) -> bool:
        text = self.text(name)
        if text is None:
            return default
        if text.strip().lower() not in ("true", "false"):
            raise ConfigError(f"{name}={text!r}: must be true or false")
        return text.strip().lower() == "true"

    def number(self, name: str, default: int, least: int = 0) -> int:
        found = self.maybe_number(name, least)
        return default if found is None else found

    def maybe_number(self, name: str, least: int = 0) -> int | None:
        text = self.text(name)
        if text is None:
            return None
        try:
            value = int(text)
        except ValueError:
            raise ConfigError(f"{name}={text!r}: must be a whole number") from None
        if value < least:
            raise ConfigError(f"{name}={text!r}: must be at least {least}")
        return value

    def duration_ms(self, name: str, default: int) -> int:
        """A time in Spark's form: `15m`, `100ms`, or milliseconds without a unit."""
        text = self.text(name)
        if text is None:
            return default
        found = _TIME.fullmatch(text.lower())
        if found is None or found[2] not in _UNIT_MS:
            raise ConfigError(f"{name}={text!r}: must be a time such as 15m, 10s or 500ms")
        return int(int(found[1]) * _UNIT_MS[found[2]])

    def word(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        text = self.text(name)
        if text is None:
            return default
        if text.strip().lower() not in allowed:
            raise ConfigError(f"{name}={text!r}: must be one of: {', '.join(allowed)}")
        return text.strip().lower()


def check_names(texts: OptionTexts, known: tuple[str, ...]) -> None:
    """Raises ConfigError for an unknown option; `client_settings` checks `kafka.*`."""
    spelled = {name.lower(): name for name in known}
    for name in texts.names():
        lower = name.lower()
        if lower in spelled or lower.startswith(KAFKA_PREFIX):
            continue
        close = difflib.get_close_matches(lower, spelled, n=1, cutoff=0.7)
        hint = f"; did you mean {spelled[close[0]]!r}?" if close else ""
        raise ConfigError(f"unknown option {name!r}{hint}")
