import pytest

from barnabas.security.scram_keys import (
    SCRAM_HASHES,
    SCRAM_SHA_256,
    SCRAM_SHA_512,
    ScramCredential,
    check_iterations,
)

SALT = bytes(range(16))


@pytest.mark.parametrize("scram", SCRAM_HASHES.values(), ids=str)
def test_the_stored_form_round_trips(scram) -> None:
    credential = ScramCredential.from_password(scram, "secret", SALT, 5000)
    assert ScramCredential.parse(credential.render()) == credential
    assert len(credential.stored_key) == scram.size


def test_the_stored_form_is_kafkas() -> None:
    credential = ScramCredential(b"salt", b"stored", b"server", 4096)
    assert credential.render() == (
        "salt=c2FsdA==,stored_key=c3RvcmVk,server_key=c2VydmVy,iterations=4096"
    )


def test_no_secret_in_the_repr() -> None:
    credential = ScramCredential.from_password(SCRAM_SHA_256, "secret", SALT)
    assert repr(credential) == "ScramCredential(iterations=4096)"


@pytest.mark.parametrize(
    "text", ["", "salt=x", "salt=!,stored_key=a,server_key=b,iterations=1", "a,b", "iterations=x"]
)
def test_anything_else_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="not a stored SCRAM credential"):
        ScramCredential.parse(text)


@pytest.mark.parametrize("iterations", [0, 4095, 1_000_001, 2**31])
def test_iterations_are_bounded(iterations: int) -> None:
    with pytest.raises(ValueError, match="iterations"):
        check_iterations(iterations)
    with pytest.raises(ValueError, match="iterations"):
        ScramCredential.from_password(SCRAM_SHA_512, "x", SALT, iterations)


def test_salts_of_any_length_are_taken_as_kafka_does() -> None:
    assert ScramCredential.from_password(SCRAM_SHA_256, "x", b"short").salt == b"short"
