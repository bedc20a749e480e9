"""SASLprep (RFC 4013): the normal form in which user names and passwords are compared."""

import stringprep
import unicodedata

_PROHIBITED = (
    stringprep.in_table_c12,
    stringprep.in_table_c21_c22,
    stringprep.in_table_c3,
    stringprep.in_table_c4,
    stringprep.in_table_c5,
    stringprep.in_table_c6,
    stringprep.in_table_c7,
    stringprep.in_table_c8,
    stringprep.in_table_c9,
)


def saslprep(text: str) -> str:
    """Returns the normal form; raises ValueError for forbidden characters.

    >>> saslprep("I\\u00adX")
    'IX'
    >>> saslprep("\\u2168")
    'IX'
    """
    if text.isascii() and text.isprintable():
        return text
    mapped = "".join(" " if stringprep.in_table_c12(char) else char for char in text)
    mapped = "".join(char for char in mapped if not stringprep.in_table_b1(char))
    normal = unicodedata.normalize("NFKC", mapped)
    if any(prohibited(char) for char in normal for prohibited in _PROHIBITED):
        raise ValueError("the text contains a character that SASLprep forbids")
    if any(stringprep.in_table_a1(char) for char in normal):
        raise ValueError("the text contains a character that SASLprep does not assign")
    _check_direction(normal)
    return normal


def _check_direction(text: str) -> None:
    """Rejects text that mixes directions (RFC 3454 section 6)."""
    if not any(stringprep.in_table_d1(char) for char in text):
        return
    mixed = any(stringprep.in_table_d2(char) for char in text)
    if mixed or not (stringprep.in_table_d1(text[0]) and stringprep.in_table_d1(text[-1])):
        raise ValueError("the text mixes writing directions")
