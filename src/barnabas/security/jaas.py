"""Java's login configuration, as far as Kafka's `sasl.jaas.config` uses it.

One entry: a class, a control flag, options, a semicolon:
`org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="b";`
The class is compared by name, never loaded. Errors do not contain values.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"

_FLAGS = frozenset({"required", "requisite", "sufficient", "optional"})
_TOKEN = re.compile(
    r"""\s*(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)'"""
    r"""|(?P<sign>[=;])|(?P<word>[^\s=;"']+))""",
    re.DOTALL,
)
_USER = "user_"


@dataclass(frozen=True, slots=True)
class JaasEntry:
    """One login module and its options."""

    module: str
    options: Mapping[str, str] = field(repr=False)

    @property
    def username(self) -> str | None:
        return self.options.get("username")

    @property
    def password(self) -> str | None:
        return self.options.get("password")

    @property
    def by_token(self) -> bool:
        """Whether user name and password are a delegation token (`tokenauth=true`)."""
        return self.options.get("tokenauth", "false").lower() == "true"

    @property
    def users(self) -> dict[str, str]:
        """Passwords of PLAIN users by user name: options `user_NAME="password"`."""
        return {
            name.removeprefix(_USER): value
            for name, value in self.options.items()
            if name.startswith(_USER)
        }


def parse_jaas(text: str) -> JaasEntry:
    """Parses one entry; raises ValueError with the cause, without the text.

    >>> entry = parse_jaas('x.PlainLoginModule required username="a" user_b="c d";')
    >>> entry.module, entry.username, entry.users
    ('x.PlainLoginModule', 'a', {'b': 'c d'})
    """
    tokens = _tokens(text)
    if len(tokens) < 2 or tokens[1].lower() not in _FLAGS:
        raise ValueError("a login module and 'required' are expected first")
    if tokens.pop() != ";":
        raise ValueError("the entry does not end with a semicolon")
    rest = tokens[2:]
    if len(rest) % 3 or any(sign != "=" for sign in rest[1::3]):
        raise ValueError('options are written name="value", and only one module is allowed')
    return JaasEntry(tokens[0], dict(zip(rest[::3], rest[2::3], strict=True)))


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    position, text = 0, text.strip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError("a quote is not closed")
        quoted = match["double"] if match["double"] is not None else match["single"]
        if quoted is not None:
            found.append(re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL))
        else:
            found.append(match["sign"] or match["word"])
        position = match.end()
    return found
