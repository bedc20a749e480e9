"""Validation of topic names, and the names of the internal topics.

Paths on disk and in the metadata tree contain only validated names, so this check also excludes
`..` and `/` from both.
"""

import re

# Kafka's limit: a directory has the name and a partition number, at most 255 characters.
MAX_NAME_LENGTH = 249
OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTIONS_TOPIC = "__transaction_state"
INTERNAL_TOPICS = frozenset({OFFSETS_TOPIC, TRANSACTIONS_TOPIC})

_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")


def topic_name_problem(name: str) -> str | None:
    """Returns why `name` is not a valid topic name, or None if it is valid.

    >>> topic_name_problem("orders")
    >>> topic_name_problem("..")
    "a topic cannot be named '.' or '..'"
    """
    if not name:
        return "a topic name cannot be empty"
    if name in (".", ".."):
        return "a topic cannot be named '.' or '..'"
    if len(name) > MAX_NAME_LENGTH:
        return f"a topic name has at most {MAX_NAME_LENGTH} characters, this one has {len(name)}"
    if _LEGAL.fullmatch(name) is None:
        return f"topic name {name!r} has characters other than ASCII letters, digits, '.', '_', '-'"
    return None


def collides(name: str, other: str) -> bool:
    """Whether two names differ only in '.' and '_', which are the same in metric names."""
    return name != other and name.replace(".", "_") == other.replace(".", "_")
