"""Bytes as text that is safe to show: escaped control characters, bounded length, hex dumps."""

import base64
import binascii
import re

MAX_HEX_BYTES = 4096
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff\ud800-\udfff]"
)
UTF8, BASE64 = "utf-8", "base64"


def visible(text: str) -> str:
    r"""Returns the text with control and direction characters as escapes.

    Terminal escape codes, and characters that reverse the direction of the text after them, would
    change how the rest of the page reads. Line feed and tab stay.

    >>> visible("a\x1b[31mb\u202e")
    'a\\x1b[31mb\\u202e'
    """
    return _UNSAFE.sub(lambda match: _escape(ord(match[0])), text)


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def hex_dump(data: bytes) -> str:
    """Returns lines of offset, 16 bytes and their ASCII text, for the first MAX_HEX_BYTES.

    >>> hex_dump(b"\\xffab")
    '00000000  ff 61 62                                         .ab'
    """
    lines = []
    for at in range(0, min(len(data), MAX_HEX_BYTES), 16):
        part = data[at : at + 16]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        lines.append(f"{at:08x}  {part.hex(' '):<47}  {shown}")
    return "\n".join(lines)


def encode_bytes(data: bytes | None) -> tuple[str | None, str | None]:
    """Returns text and encoding that keep every byte; base64 if the bytes are not UTF-8."""
    if data is None:
        return None, None
    try:
        return data.decode(), UTF8
    except UnicodeDecodeError:
        return base64.b64encode(data).decode(), BASE64


def decode_bytes(text: str | None, encoding: str | None) -> bytes | None:
    """Returns the bytes of `encode_bytes`; ValueError if the text is not base64."""
    if text is None:
        return None
    if encoding == BASE64:
        try:
            return base64.b64decode(text, validate=True)
        except binascii.Error as error:
            raise ValueError(f"{text[:40]!r} is not base64: {error}") from None
    return text.encode(errors="surrogateescape")
