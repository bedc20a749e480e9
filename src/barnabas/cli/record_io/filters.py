"""Filters records by regular expressions on key, value and headers."""

import argparse
import re
from collections.abc import Iterable
from dataclasses import dataclass

from barnabas.model.errors import ConfigError
from barnabas.records.record import Record


def add_filter_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("filters (regular expressions; all must match)")
    group.add_argument("--filter-key", metavar="REGEX")
    group.add_argument("--filter-value", metavar="REGEX")
    group.add_argument(
        "--filter-header",
        metavar="NAME[=REGEX]",
        action="append",
        default=[],
        help="repeatable; the name alone requires the header to exist",
    )


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """A record filter; an empty filter accepts all records."""

    key: re.Pattern[bytes] | None
    value: re.Pattern[bytes] | None
    headers: tuple[tuple[str, re.Pattern[bytes] | None], ...]

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> "RecordFilter":
        headers = []
        for text in arguments.filter_header:
            name, equals, pattern = text.partition("=")
            headers.append((name, _compiled(pattern) if equals else None))
        return cls(
            _compiled(arguments.filter_key), _compiled(arguments.filter_value), tuple(headers)
        )

    @property
    def empty(self) -> bool:
        return self.key is None and self.value is None and not self.headers

    def first(self, records: list[Record], limit: int) -> tuple[list[Record], int]:
        """Returns the first `limit` matching records and the number of records examined."""
        kept: list[Record] = []
        for number, record in enumerate(records):
            if len(kept) >= limit:
                return kept, number
            if self.empty or self.passes(record):
                kept.append(record)
        return kept, len(records)

    def apply(self, records: list[Record]) -> list[Record]:
        if self.empty:
            return records
        return [record for record in records if self.passes(record)]

    def passes(self, record: Record) -> bool:
        return (
            _matches(self.key, record.key)
            and _matches(self.value, record.value)
            and all(_has_header(record.headers, name, want) for name, want in self.headers)
        )


def _matches(pattern: re.Pattern[bytes] | None, data: bytes | None) -> bool:
    return pattern is None or (data is not None and pattern.search(data) is not None)


def _has_header(
    headers: Iterable[tuple[str, bytes | None]], name: str, pattern: re.Pattern[bytes] | None
) -> bool:
    return any(key == name and _matches(pattern, value) for key, value in headers)


def _compiled(text: str | None) -> re.Pattern[bytes] | None:
    if text is None:
        return None
    try:
        return re.compile(text.encode())
    except re.error as error:
        raise ConfigError(f"{text!r} is not a regular expression: {error}") from error
