"""The identity of a connection, as in ACLs: `User:alice`; names from certificates."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

USER = "User"
_RULE = re.compile(r"RULE:(?P<pattern>(?:\\.|[^/\\])*)/(?P<target>(?:\\.|[^/\\])*)/(?P<case>[LU]?)")


@dataclass(frozen=True, slots=True)
class Principal:
    """Type and name of an authenticated identity."""

    kind: str
    name: str
    by_token: bool = field(default=False, compare=False, repr=False)
    """Whether it logged in with a delegation token: it must not create or change tokens then."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parses `User:alice`; raises ValueError for other forms.

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
"""The principal of connections without authentication."""


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
    """Parses rules of the form `RULE:pattern/replacement/[LU]` or `DEFAULT`.

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
    """Returns the name by the first rule that matches; raises ValueError if none does."""
    for rule in rules:
        mapped = rule.apply(name)
        if mapped is not None:
            return mapped
    raise ValueError("no principal mapping rule matches the name in the certificate")


# --- names in certificates -----------------------------------------------------------------------


_SHORT = {
    "commonName": "CN",
    "organizationalUnitName": "OU",
    "organizationName": "O",
    "localityName": "L",
    "stateOrProvinceName": "ST",
    "countryName": "C",
    "streetAddress": "STREET",
    "domainComponent": "DC",
    "userId": "UID",
}
_SPECIAL = ',+"\\<>;='


def distinguished_name(subject: Sequence[Sequence[tuple[str, str]]]) -> str:
    """Returns the subject of a certificate, given as in the ssl module, in the form of RFC 2253.

    >>> distinguished_name(((("countryName", "DE"),), (("commonName", "a, b"),)))
    'CN=a\\\\, b,C=DE'
    """
    parts = [
        "+".join(f"{_SHORT.get(kind, kind)}={_escape(value)}" for kind, value in part)
        for part in reversed(subject)
    ]
    return ",".join(parts)


def _escape(value: str) -> str:
    text = "".join(f"\\{char}" if char in _SPECIAL else char for char in value)
    if text[:1] in ("#", " "):
        text = "\\" + text
    if text.endswith(" ") and len(value) > 1:
        text = text[:-1] + "\\ "
    return text
