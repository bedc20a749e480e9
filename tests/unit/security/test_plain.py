import pytest

from barnabas.security.mechanism import AuthenticationError, ServerStep
from barnabas.security.plain import PlainClient, PlainServer, check_against

USERS = {"alice": "wonder", "bob": "builder", "empty": ""}


def server() -> PlainServer:
    return PlainServer(check_against(USERS))


def test_both_sides_agree() -> None:
    client = PlainClient("alice", "wonder")
    answer = server().step(client.first())
    assert answer == ServerStep(b"", "alice")
    assert client.step(answer.token) is None


def test_acting_for_oneself_is_allowed() -> None:
    assert server().step(b"alice\0alice\0wonder").user == "alice"


@pytest.mark.parametrize(
    "token",
    [
        b"\0alice\0wrong",
        b"\0nobody\0wonder",
        b"\0nobody\0",
        b"\0empty\0",
        b"\0\0wonder",
        b"bob\0alice\0wonder",
        b"alice\0wonder",
        b"\0alice\0wonder\0",
        b"",
        b"\0alice\0\xff\xfe",
    ],
)
def test_everything_else_is_rejected_and_its_text_is_not_shown(token: bytes) -> None:
    with pytest.raises(AuthenticationError) as refused:
        server().step(token)
    for secret in ("alice", "bob", "wonder", "nobody"):
        assert secret not in str(refused.value)


@pytest.mark.parametrize(("user", "password"), [("", "x"), ("x", ""), ("a\0b", "x"), ("a", "\0")])
def test_the_client_checks_what_it_sends(user: str, password: str) -> None:
    with pytest.raises(ValueError, match="PLAIN needs"):
        PlainClient(user, password)


def test_a_server_that_goes_on_is_rejected() -> None:
    with pytest.raises(AuthenticationError):
        PlainClient("a", "b").step(b"more")
