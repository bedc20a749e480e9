"""Who a connection belongs to, as ACLs name it: `User:alice`."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

USER = "User"
_RULE = re.compile(r"RULE:(?P<pattern>(?:\\.|[^/\\])*)/(?P<target>(?:\\.|[^/\\])*)/(?P<case>[LU]?)")


@dataclass(frozen=True, slots=True)
class Principal:
    """A kind and a name."""

    kind: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `User:alice`; ValueError otherwise.

        >>> Principal.parse("User:CN=a,OU=b").name
        'CN=a,OU=b'
        """
        kind, sep, name = text.partition(":")
        if not sep or not kind or not name:
            raise ValueError(f"a principal is written Type:name, not {text!r}")
        return cls(kind, name)

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


ANONYMOUS = Principal(USER, "ANONYMOUS")
"""Everybody on a listener without authentication."""


@dataclass(frozen=True, slots=True)
class PrincipalRule:
    """One rule of `ssl.principal.mapping.rules`: the whole name must match."""

    pattern: re.Pattern[str]
    target: str
    case: str = ""

    def apply(self, name: str) -> str | None:
        if self.pattern.fullmatch(name) is None:
            return None
        mapped = self.pattern.sub(self.target, name, count=1)
        return {"L": mapped.lower(), "U": mapped.upper()}.get(self.case, mapped)


def parse_rules(texts: Iterable[str]) -> tuple[PrincipalRule, ...]:
    """Read rules written as `RULE:pattern/replacement/[LU]` or `DEFAULT`.

    >>> map_name("CN=Ann,OU=x", parse_rules(["RULE:^CN=(.*?),.*$/$1/L", "DEFAULT"]))
    'ann'
    """
    return tuple(_parse_rule(text.strip()) for text in texts)


def _parse_rule(text: str) -> PrincipalRule:
    if text == "DEFAULT":
        return PrincipalRule(re.compile(r"(.*)", re.DOTALL), r"\1")
    match = _RULE.fullmatch(text)
    if match is None:
        raise ValueError(f"not a principal mapping rule: {text!r}")
    target = re.sub(r"\$(\d)", r"\\\1", match["target"])
    return PrincipalRule(re.compile(match["pattern"]), target, match["case"])


def map_name(name: str, rules: Sequence[PrincipalRule]) -> str:
    """The first rule that fits decides; ValueError if none does."""
    for rule in rules:
        mapped = rule.apply(name)
        if mapped is not None:
            return mapped
    raise ValueError("no principal mapping rule fits the certificate's name")
