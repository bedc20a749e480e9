"""Reads the end of a certificate's validity from its PEM text.

The standard library shows the dates of a peer's certificate only. A broker needs those of its own
certificate, to warn before clients refuse it. Only the way to the one field is decoded (X.690 DER,
RFC 5280 section 4.1): Certificate, tbsCertificate, and behind version, serial number, signature
algorithm and issuer the validity with two dates. Nothing is verified.
"""

import ssl
from datetime import UTC, datetime
from pathlib import Path

from barnabas.net.tls_context import TlsSettings

_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
_VERSION_TAG = 0xA0
_UTC_TIME_TAG = 0x17
_LONG_LENGTH = 0x80
_Element = tuple[int, int, int]
"""Tag, first byte and end of the content of a DER element."""


def own_certificate_end(settings: TlsSettings) -> datetime | None:
    """Returns when the certificate of these settings expires; None if it cannot be determined."""
    try:
        if settings.chain_file is not None:
            text = Path(settings.chain_file).read_text(encoding="ascii", errors="replace")
        else:
            text = settings.chain_text or ""
        return certificate_end(text)
    except (OSError, ValueError, IndexError):
        return None


def certificate_end(text: str) -> datetime:
    """Returns the end of the validity of the first certificate in a PEM text."""
    start = text.index(_BEGIN)
    der = ssl.PEM_cert_to_DER_cert(text[start : text.index(_END, start)] + _END)
    position = _element(der, _element(der, 0)[1])[1]
    if _element(der, position)[0] == _VERSION_TAG:
        position = _element(der, position)[2]
    for _ in ("serial number", "signature algorithm", "issuer"):
        position = _element(der, position)[2]
    not_before = _element(der, _element(der, position)[1])
    tag, first, end = _element(der, not_before[2])
    year = "%y" if tag == _UTC_TIME_TAG else "%Y"
    date = datetime.strptime(der[first:end].decode("ascii"), f"{year}%m%d%H%M%SZ")  # noqa: DTZ007
    return date.replace(tzinfo=UTC)


def _element(der: bytes, position: int) -> _Element:
    length, first = der[position + 1], position + 2
    if length >= _LONG_LENGTH:
        digits = length - _LONG_LENGTH
        length = int.from_bytes(der[first : first + digits], "big")
        first += digits
    return der[position], first, first + length
