"""Checks the states and types by which groups are listed."""

from collections.abc import Iterable

from barnabas.admin.group_types import GroupState, GroupType
from barnabas.model.errors import ConfigError


def check_group_filters(states: Iterable[str], types: Iterable[str]) -> None:
    """Raises ConfigError for an unknown state or type, which would select no group."""
    _check("state list", "states", states, GroupState.known())
    _check("types list", "types", types, GroupType.known())


def _check(option: str, plural: str, words: Iterable[str], known: list[str]) -> None:
    accepted = {name.lower() for name in known}
    unknown = [word for word in words if word.lower() not in accepted]
    if unknown:
        raise ConfigError(
            f"Invalid {option} '{','.join(unknown)}'. Valid {plural} are: {', '.join(known)}"
        )
