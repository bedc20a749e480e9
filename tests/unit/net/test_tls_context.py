import asyncio
import ssl
from datetime import UTC, datetime

import pytest
import trustme
from cryptography.hazmat.primitives import serialization

from barnabas.model.errors import ConfigError
from barnabas.net.tls_context import (
    ReloadableClientContext,
    TlsSettings,
    certificate_end,
    client_context,
    own_certificate_end,
    server_context,
)


@pytest.fixture(scope="module")
def leaf():
    return trustme.CA().issue_cert("localhost")


def chain_text(leaf):
    return b"".join(blob.bytes() for blob in leaf.cert_chain_pems).decode()


def locked_key(leaf):
    key = serialization.load_pem_private_key(leaf.private_key_pem.bytes(), None)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"opens it"),
    ).decode()


def test_certificates_as_text(leaf):
    settings = TlsSettings(
        chain_text=chain_text(leaf),
        key_text=leaf.private_key_pem.bytes().decode(),
        peer_certificate="none",
    )
    assert server_context(settings)


def test_a_locked_key(leaf):
    for password, opens in (("opens it", True), ("does not", False), (None, False)):
        settings = TlsSettings(
            chain_text=chain_text(leaf),
            key_text=locked_key(leaf),
            key_password=password,
            peer_certificate="none",
        )
        if opens:
            assert server_context(settings)
        else:
            with pytest.raises(ConfigError, match="cannot be loaded") as caught:
                server_context(settings)
            assert "does not" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (TlsSettings(), "needs a key and a certificate"),
        (TlsSettings(chain_file="/none", peer_certificate="none"), "No such file"),
        (
            TlsSettings(chain_file="/none", peer_certificate="required"),
            "needs certificates in ssl.truststore",
        ),
    ],
)
def test_the_error_names_the_missing_setting_of_a_listener(settings, text):
    with pytest.raises(ConfigError, match=text):
        server_context(settings)


def test_a_client_needs_nothing():
    context = client_context(TlsSettings())
    assert context.check_hostname
    assert not client_context(TlsSettings(check_host=False)).check_hostname


def test_secrets_are_not_shown():
    settings = TlsSettings(key_password="hidden", key_text="hidden")
    assert "hidden" not in repr(settings)


async def test_a_removed_authority_is_no_longer_trusted():
    known, other = trustme.CA(), trustme.CA()
    listening = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    known.issue_cert("localhost").configure_cert(listening)
    server = await asyncio.start_server(
        lambda _reader, writer: writer.close(), "127.0.0.1", 0, ssl=listening
    )
    port = server.sockets[0].getsockname()[1]

    def settings(authority):
        return TlsSettings(trust_text=authority.cert_pem.bytes().decode())

    async def connect(context):
        _, writer = await asyncio.open_connection(
            "127.0.0.1", port, ssl=context, server_hostname="localhost"
        )
        writer.close()

    context = ReloadableClientContext.of(settings(known))
    await connect(context)
    with pytest.raises(ConfigError):
        context.reload(TlsSettings(trust_text="no certificate"))
    await connect(context)
    context.reload(settings(other))
    with pytest.raises(ssl.SSLCertVerificationError):
        await connect(context)
    server.close()


# --- end of a certificate's validity --------------------------------------------------------------


@pytest.fixture(scope="module")
def ca():
    return trustme.CA()


def pem(ca, end):
    issued = ca.issue_cert("localhost", not_after=end)
    return issued.private_key_and_cert_chain_pem.bytes().decode()


@pytest.mark.parametrize(
    "end", [datetime(2020, 2, 29, 12, 30, 1, tzinfo=UTC), datetime(2063, 4, 5, tzinfo=UTC)]
)
def test_the_end_of_the_validity(ca, end):
    """Dates from 2050 on are written with four digits of the year."""
    assert certificate_end(pem(ca, end)) == end


def test_the_certificate_of_settings(ca, tmp_path):
    end = datetime(2030, 1, 1, tzinfo=UTC)
    text = pem(ca, end)
    file = tmp_path / "broker.pem"
    file.write_text(text)
    assert own_certificate_end(TlsSettings(chain_text=text)) == end
    assert own_certificate_end(TlsSettings(chain_file=str(file))) == end


@pytest.mark.parametrize("text", ["", "no certificate"])
def test_a_text_without_a_certificate_has_no_end(text):
    assert own_certificate_end(TlsSettings(chain_text=text)) is None
    assert own_certificate_end(TlsSettings(chain_file="/nowhere.pem")) is None


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (
            TlsSettings(trust_file="/none/ca.pem"),
            "ssl.truststore: the certificates cannot be loaded: No such file or directory "
            "(/none/ca.pem)",
        ),
        (
            TlsSettings(chain_file="/none/own.pem", key_file="/none/own.key"),
            "ssl.keystore: the certificates cannot be loaded: No such file or directory "
            "(/none/own.pem, /none/own.key)",
        ),
        (
            TlsSettings(chain_text="no certificate"),
            "ssl.keystore: the certificates cannot be loaded: ",
        ),
        (
            TlsSettings(ciphers=("NO-CIPHER",)),
            "ssl.cipher.suites: the ciphers cannot be loaded: no cipher can be selected",
        ),
    ],
)
def test_an_error_names_the_keys_and_the_files(settings, text):
    with pytest.raises(ConfigError) as caught:
        client_context(settings)
    assert str(caught.value).startswith(text)
