"""A SASL listener on the wire: requests before authentication, and the end of failed logins."""

import asyncio
import base64
import struct

import pytest
from support.security.secure_broker import plain_jaas

from barnabas.security.scram_keys import SCRAM_SHA_256, ScramCredential
from barnabas.testing import Broker
from barnabas.wire.messages.api_versions import ApiVersionsRequest
from barnabas.wire.messages.metadata import MetadataRequest
from barnabas.wire.messages.sasl_authenticate import SaslAuthenticateRequest
from barnabas.wire.messages.sasl_handshake import SaslHandshakeRequest

pytestmark = pytest.mark.integration

NOTHING, UNSUPPORTED, ILLEGAL, FAILED = 0, 33, 34, 58
ALICE = b"\0alice\0alice-secret"
GREETING = ApiVersionsRequest(client_software_name="peer", client_software_version="1")


@pytest.fixture(scope="module")
def server():
    settings = {
        "listeners": "SASL_PLAINTEXT://127.0.0.1:0",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
        "sasl.jaas.config": plain_jaas(),
        "connections.max.reauth.ms": 3_600_000,
    }
    with Broker(settings) as broker:
        yield broker


@pytest.fixture
async def peer(server, connect):
    return await connect(server)


async def shake(peer, mechanism="PLAIN", version=1):
    return await peer.call(SaslHandshakeRequest(mechanism), version)


async def log_in(peer, token=ALICE, version=2):
    return await peer.call(SaslAuthenticateRequest(token), version)


@pytest.mark.parametrize("version", [0, 1, 2])
async def test_a_login_in_every_version(peer, version):
    assert (await peer.call(GREETING, 3)).error_code == NOTHING
    offered = await shake(peer)
    assert (offered.error_code, offered.mechanisms) == (NOTHING, ["PLAIN", "SCRAM-SHA-256"])
    answer = await log_in(peer, version=version)
    assert answer.error_code == NOTHING
    assert answer.session_lifetime_ms == (3_600_000 if version else 0)
    assert (await peer.call(MetadataRequest(topics=[]), 9)).brokers


async def test_bare_tokens_after_the_old_handshake(peer):
    assert (await shake(peer, version=0)).error_code == NOTHING
    peer.writer.write(struct.pack(">i", len(ALICE)) + ALICE)
    assert await peer.receive_frame() == b""
    assert (await peer.call(MetadataRequest(topics=[]), 9)).brokers


async def test_a_bare_token_that_is_wrong_is_not_answered(peer):
    assert (await shake(peer, version=0)).error_code == NOTHING
    peer.writer.write(struct.pack(">i", 6) + b"\0a\0b\0c")
    assert await peer.is_closed()


async def test_no_other_request_is_served_before_authentication(peer, server, connect):
    peer.send(MetadataRequest(topics=[]), 9)
    assert await peer.is_closed()
    other = await connect(server)
    await shake(other)
    other.send(MetadataRequest(topics=[]), 9)
    assert await other.is_closed()


async def test_a_failure_is_answered_alike_and_closes(server, connect):
    answers = []
    for token in (b"\0alice\0wrong", b"\0nobody\0wrong", b"bob\0alice\0alice-secret", b"x"):
        peer = await connect(server)
        await shake(peer)
        answer = await log_in(peer, token)
        answers.append((answer.error_code, answer.error_message, answer.auth_bytes))
        assert await peer.is_closed()
    assert set(answers) == {(FAILED, "Authentication failed: invalid credentials", b"")}


async def test_a_mechanism_that_is_not_enabled(peer):
    answer = await shake(peer, "GSSAPI")
    assert answer.error_code == UNSUPPORTED
    assert answer.mechanisms == ["PLAIN", "SCRAM-SHA-256"]
    assert await peer.is_closed()


async def test_a_token_out_of_turn(peer):
    assert (await log_in(peer)).error_code == ILLEGAL
    assert await peer.is_closed()


async def test_a_user_may_log_in_again(peer):
    await shake(peer)
    await log_in(peer)
    await asyncio.sleep(1.05)  # KIP-368: a login within a second of the last one is refused
    assert (await shake(peer)).error_code == NOTHING
    assert (await log_in(peer)).error_code == NOTHING
    assert (await peer.call(MetadataRequest(topics=[]), 9)).brokers


async def test_a_session_ends(start, connect):
    broker = await start(
        {
            "listeners": "SASL_PLAINTEXT://127.0.0.1:0",
            "sasl.enabled.mechanisms": "PLAIN",
            "sasl.jaas.config": plain_jaas(),
            "connections.max.reauth.ms": 1,
        }
    )
    peer = await connect(broker)
    await shake(peer)
    assert (await log_in(peer)).session_lifetime_ms == 1
    await asyncio.sleep(0.05)  # the session of 1 ms ends; the broker tells nobody
    peer.send(MetadataRequest(topics=[]), 9)
    assert await peer.is_closed()


async def test_frames_are_small_before_authentication(peer, server, connect):
    peer.writer.write(struct.pack(">i", 600_000))
    assert await peer.is_closed()
    other = await connect(server)
    await shake(other)
    await log_in(other)
    other.writer.write(struct.pack(">i", 600_000))
    assert not await _closes_within(other, 0.2)


async def _closes_within(peer, seconds):
    try:
        return await peer.is_closed(seconds)
    except TimeoutError:
        return False


async def test_time_is_short_before_authentication(start, connect):
    """Passes when the broker closes the connection before the login."""
    broker = await start(
        {
            "listeners": "SASL_PLAINTEXT://127.0.0.1:0",
            "sasl.enabled.mechanisms": "SCRAM-SHA-256",
            "connections.max.unauthenticated.ms": 1,
        }
    )
    peer = await connect(broker)
    peer.send(GREETING, 3)
    await asyncio.wait_for(peer.reader.read(), 30)  # to the end, which would not come by itself


async def test_sasl_on_a_plain_listener_is_out_of_turn(start, connect):
    broker = await start()
    peer = await connect(broker)
    assert (await shake(peer)).error_code == ILLEGAL
    assert (await log_in(peer)).error_code == ILLEGAL


SCRAM_SETTINGS = {
    "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
    "sasl.enabled.mechanisms": "SCRAM-SHA-256",
}


async def scram_challenge(connect, broker, user):
    """Salt and iteration count that the broker sends before the client has authenticated."""
    peer = await connect(broker, broker.ports["SASL_PLAINTEXT"])
    await shake(peer, "SCRAM-SHA-256")
    answer = await log_in(peer, f"n,,n={user},r=nonce".encode())
    fields = dict(part.split("=", 1) for part in answer.auth_bytes.decode().split(","))
    return base64.b64decode(fields["s"]), fields["i"]


async def test_scram_challenges_do_not_reveal_which_users_exist(start, connect):
    """The unknown user's salt has the same form, also after a restart of the broker."""
    broker = await start(SCRAM_SETTINGS)
    entities = broker.services.client_entities
    stored = ScramCredential.from_password(SCRAM_SHA_256, "secret", b"\x81" * 30, 9_000)
    await entities.change("users/ann", lambda v: v.update({"SCRAM-SHA-256": stored.render()}))
    salt, iterations = await scram_challenge(connect, broker, "ann")
    unknown_salt, unknown_iterations = await scram_challenge(connect, broker, "bob")
    assert (len(unknown_salt), unknown_iterations) == (len(salt), iterations) == (30, "9000")
    await broker.stop()
    again = await start(SCRAM_SETTINGS)
    assert await scram_challenge(connect, again, "bob") == (unknown_salt, unknown_iterations)
