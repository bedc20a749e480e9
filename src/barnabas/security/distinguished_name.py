"""A certificate's subject as text, as RFC 2253 writes it and Kafka names principals by it."""

from collections.abc import Sequence

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
    """The subject as Python's ssl module gives it, most particular part first.

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
