import asyncio
import ssl

import pytest
import trustme
from cryptography.hazmat.primitives import serialization

from barnabas.model.errors import ConfigError
from barnabas.net.tls_context import (
    ReloadableClientContext,
    TlsSettings,
    client_context,
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
