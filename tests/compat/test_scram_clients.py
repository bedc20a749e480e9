"""The SCRAM clients of kafka-python and aiokafka against our server."""

import pytest

from barnabas.security.mechanism import AuthenticationError
from barnabas.security.scram import ScramServer
from barnabas.security.scram_keys import SCRAM_HASHES, DecoyCredentials, ScramCredential

pytestmark = pytest.mark.compat

SALT = bytes(range(16))


def make_server(mechanism: str) -> ScramServer:
    scram = SCRAM_HASHES[mechanism]
    credential = ScramCredential.from_password(scram, "secret", SALT)
    return ScramServer(
        scram, {"alice": credential}.get, "server-nonce", DecoyCredentials(scram, b"key").credential
    )


@pytest.mark.parametrize("mechanism", SCRAM_HASHES)
def test_kafka_python(mechanism: str) -> None:
    from kafka.net.sasl.scram import ScramClient

    client, server = ScramClient("alice", "secret", mechanism), make_server(mechanism)
    client.process_server_first_message(server.step(client.first_message()).token)
    done = server.step(client.final_message())
    assert done.user == "alice"
    client.process_server_final_message(done.token)


@pytest.mark.parametrize("mechanism", SCRAM_HASHES)
def test_kafka_python_with_a_wrong_password(mechanism: str) -> None:
    from kafka.net.sasl.scram import ScramClient

    client, server = ScramClient("alice", "guess", mechanism), make_server(mechanism)
    client.process_server_first_message(server.step(client.first_message()).token)
    with pytest.raises(AuthenticationError):
        server.step(client.final_message())


@pytest.mark.parametrize("mechanism", SCRAM_HASHES)
def test_aiokafka(mechanism: str) -> None:
    from aiokafka.conn import ScramAuthenticator

    client = ScramAuthenticator(
        loop=None,
        sasl_plain_username="alice",
        sasl_plain_password="secret",
        sasl_mechanism=mechanism,
    )
    server = make_server(mechanism)
    challenge = server.step(client.first_message().encode()).token
    client.process_server_first_message(challenge.decode())
    done = server.step(client.final_message().encode())
    assert done.user == "alice"
    client.process_server_final_message(done.token.decode())
