import pytest

from barnabas.model.error_codes import ErrorCode as E
from barnabas.security.plain import PlainServer, check_against
from barnabas.security.principal import Principal
from barnabas.security.sasl_server import FAILURE_TEXT, SaslConfig, SaslServer, SaslState

ALICE = b"\0alice\0wonder"
BOB = b"\0bob\0builder"


def plain() -> PlainServer:
    return PlainServer(check_against({"alice": "wonder", "bob": "builder"}))


def make(**config: int) -> SaslServer:
    return SaslServer({"PLAIN": plain, "OTHER": plain}, SaslConfig(**config))


def authenticated(**config: int) -> SaslServer:
    server = make(**config)
    server.handshake("PLAIN", 1, 0)
    server.authenticate(ALICE, 0)
    return server


def test_a_successful_login_sets_the_principal() -> None:
    server = make()
    assert server.handshake("PLAIN", 1, 0).error is E.NONE
    answer = server.authenticate(ALICE, 5)
    assert (answer.error, answer.principal) == (E.NONE, Principal("User", "alice"))
    assert answer.close_after_ms is None
    assert server.state is SaslState.AUTHENTICATED
    assert server.may_serve(10**12)


def test_a_mechanism_that_is_not_enabled() -> None:
    server = make()
    answer = server.handshake("GSSAPI", 1, 0)
    assert (answer.error, answer.mechanisms) == (
        E.UNSUPPORTED_SASL_MECHANISM,
        ("OTHER", "PLAIN"),
    )
    assert answer.close_after_ms is not None
    assert server.state is SaslState.FAILED


@pytest.mark.parametrize("token", [b"\0alice\0wrong", b"\0nobody\0x", b"rubbish", b"x" * 70_000])
def test_every_failure_looks_the_same(token: bytes) -> None:
    server = make()
    server.handshake("PLAIN", 1, 0)
    answer = server.authenticate(token, 0)
    assert (answer.error, answer.message) == (E.SASL_AUTHENTICATION_FAILED, FAILURE_TEXT)
    assert (answer.close_after_ms, answer.token) == (100, b"")
    assert answer.reason
    assert server.state is SaslState.FAILED
    assert server.authenticate(ALICE, 0).error is E.ILLEGAL_SASL_STATE
    assert server.handshake("PLAIN", 1, 0).error is E.ILLEGAL_SASL_STATE


def test_requests_before_authentication() -> None:
    server = make()
    assert not server.may_serve(0)
    assert server.may_serve(0, is_api_versions=True)
    server.handshake("PLAIN", 1, 0)
    assert not server.may_serve(0)
    assert server.may_serve(0, is_api_versions=True)
    server.authenticate(b"bad", 0)
    assert not server.may_serve(0, is_api_versions=True)


@pytest.mark.parametrize("state", ["new", "authenticated"])
def test_a_token_out_of_turn(state: str) -> None:
    server = make() if state == "new" else authenticated()
    answer = server.authenticate(ALICE, 0)
    assert (answer.error, answer.close_after_ms) == (E.ILLEGAL_SASL_STATE, 0)
    assert not server.may_serve(0)


def test_a_second_handshake_out_of_turn() -> None:
    server = make()
    server.handshake("PLAIN", 1, 0)
    assert server.handshake("PLAIN", 1, 0).error is E.ILLEGAL_SASL_STATE


def test_old_clients_send_bare_tokens() -> None:
    server = make()
    server.handshake("PLAIN", 0, 0)
    assert server.raw_tokens


class TestAgain:
    def test_the_same_principal_may(self) -> None:
        server = authenticated(max_session_ms=5_000)
        assert server.handshake("PLAIN", 1, 4_000).error is E.NONE
        assert not server.may_serve(4_000)
        answer = server.authenticate(ALICE, 4_000)
        assert (answer.error, answer.session_lifetime_ms) == (E.NONE, 5_000)
        assert server.may_serve(9_000)

    def test_an_expired_session_serves_nothing_but_may_authenticate_again(self) -> None:
        server = authenticated(max_session_ms=5_000)
        assert server.may_serve(5_000)
        assert not server.may_serve(5_001)
        server.handshake("PLAIN", 1, 5_002)
        server.authenticate(ALICE, 5_002)
        assert server.may_serve(5_003)

    def test_another_principal_may_not(self) -> None:
        server = authenticated()
        server.handshake("PLAIN", 1, 4_000)
        assert server.authenticate(BOB, 4_000).error is E.SASL_AUTHENTICATION_FAILED
        assert not server.may_serve(4_000)

    @pytest.mark.parametrize(("mechanism", "now_ms"), [("OTHER", 4_000), ("PLAIN", 999)])
    def test_nor_another_mechanism_nor_too_soon(self, mechanism: str, now_ms: int) -> None:
        server = authenticated()
        answer = server.handshake(mechanism, 1, now_ms)
        assert answer.error is E.SASL_AUTHENTICATION_FAILED
        assert answer.close_after_ms == 100
        assert not server.may_serve(now_ms)
