"""Creates OpenSSL contexts from PEM files or PEM text, and reads when a certificate expires.

A private key that is configured as text is written for a moment to a file that only its owner can
read, because the standard library loads keys only from files.
"""

import os
import ssl
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from barnabas.model.errors import ConfigError

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """Certificates and options of one side; key chain and trusted certificates as file or text."""

    chain_file: str | None = None
    key_file: str | None = None
    key_password: str | None = field(default=None, repr=False)
    chain_text: str | None = None
    key_text: str | None = field(default=None, repr=False)
    trust_file: str | None = None
    trust_text: str | None = None
    versions: Sequence[str] = ("TLSv1.2", "TLSv1.3")
    ciphers: Sequence[str] = ()
    peer_certificate: str = "required"
    """none, requested or required."""
    check_host: bool = True


def server_context(settings: TlsSettings) -> ssl.SSLContext:
    """Returns the context of a listener; raises ConfigError if a file cannot be loaded."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if settings.chain_file is None and settings.chain_text is None:
        raise ConfigError("ssl.keystore.location: a TLS listener needs a key and a certificate")
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
    context.verify_mode = {
        "none": ssl.CERT_NONE,
        "requested": ssl.CERT_OPTIONAL,
        "required": ssl.CERT_REQUIRED,
    }[settings.peer_certificate]
    if context.verify_mode is not ssl.CERT_NONE and not _has_truststore(settings):
        raise ConfigError("ssl.client.auth: needs certificates in ssl.truststore.location")
    _load(context, settings)
    return context


def client_context(settings: TlsSettings) -> ssl.SSLContext:
    """Returns the context of a client; without a truststore it trusts the system's CAs."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = settings.check_host
    if not _has_truststore(settings):
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    _load(context, settings)
    return context


class ReloadableClientContext(ssl.SSLContext):
    """A client context that can be replaced while connection options refer to it.

    OpenSSL cannot remove a trusted certificate from a context. So every connection is made with the
    context of the newest settings, and a removed CA is no longer trusted.
    """

    current: ssl.SSLContext

    @classmethod
    def of(cls, settings: TlsSettings) -> Self:
        """Returns a context with these settings; raises ConfigError if they cannot be loaded."""
        made = cls(ssl.PROTOCOL_TLS_CLIENT)
        made.reload(settings)
        return made

    def reload(self, settings: TlsSettings) -> None:
        """Uses other settings for later connections; raises ConfigError, and changes nothing."""
        self.current = client_context(settings)
        self.check_hostname = settings.check_host

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        return self.current.wrap_bio(incoming, outgoing, server_side, server_hostname, session)


def _has_truststore(settings: TlsSettings) -> bool:
    return settings.trust_file is not None or settings.trust_text is not None


def _load(context: ssl.SSLContext, settings: TlsSettings) -> None:
    versions = [_VERSIONS[name] for name in settings.versions]
    context.minimum_version, context.maximum_version = min(versions), max(versions)
    if settings.ciphers:
        with _names_problem("ssl.cipher.suites", "the ciphers"):
            context.set_ciphers(":".join(settings.ciphers))
    if _has_truststore(settings):
        with _names_problem("ssl.truststore", "the certificates", settings.trust_file):
            context.load_verify_locations(settings.trust_file, cadata=settings.trust_text)
    files = (settings.chain_file, settings.key_file)
    with _names_problem("ssl.keystore", "the certificates", *files):
        _load_own(context, settings)


@contextmanager
def _names_problem(keys: str, what: str, *files: str | None) -> Iterator[None]:
    """Raises ConfigError with the keys and, because OpenSSL does not name them, the files."""
    paths = ", ".join(dict.fromkeys(name for name in files if name is not None))
    where = f" ({paths})" if paths else ""
    try:
        yield
    except ssl.SSLError as error:
        # An error of set_ciphers() has no reason, only a text.
        reason = getattr(error, "reason", None) or (error.args or ["unreadable"])[-1]
        reason = str(reason).lower().replace("_", " ").rstrip(".")
        raise ConfigError(f"{keys}: {what} cannot be loaded: {reason}{where}") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"{keys}: {what} cannot be loaded: {reason}{where}") from error


def _load_own(context: ssl.SSLContext, settings: TlsSettings) -> None:
    # Always pass a password, otherwise OpenSSL prompts for one on the terminal.
    password = settings.key_password or ""
    if settings.chain_file is not None:
        context.load_cert_chain(settings.chain_file, settings.key_file, password)
    elif settings.chain_text is not None:
        with _private_file(settings.chain_text, settings.key_text or "") as name:
            context.load_cert_chain(name, None, password)


@contextmanager
def _private_file(*texts: str) -> Iterator[str]:
    handle, name = tempfile.mkstemp(prefix="barnabas-", suffix=".pem")
    try:
        with os.fdopen(handle, "w") as file:
            file.write("\n".join(texts))
        yield name
    finally:
        Path(name).unlink()


# --- End of a certificate's validity --------------------------------------------------------------

# The standard library shows the dates of a peer's certificate only. A broker needs those of its own
# certificate, to warn before clients reject it. Only the path to that field is decoded (X.690 DER,
# RFC 5280 section 4.1): Certificate, tbsCertificate, and behind version, serial number, signature
# algorithm and issuer the validity with two dates. Nothing is verified.

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
