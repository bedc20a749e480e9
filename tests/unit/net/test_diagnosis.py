"""The probable reason why a peer does not respond as a broker."""

import socket

from barnabas.model.errors import UnavailableError
from barnabas.net.connection_options import Address
from barnabas.net.diagnosis import diagnose


def test_a_port_without_a_server_is_not_blamed_on_tls():
    """A broker that stops closes a connection, and the diagnosis finds nothing at its address."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    error = diagnose(Address("127.0.0.1", port), tls=False)
    assert isinstance(error, UnavailableError)
    assert str(error) == f"127.0.0.1:{port} closed the connection, and nothing listens there now"
