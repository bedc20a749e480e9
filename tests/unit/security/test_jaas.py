import pytest

from barnabas.security.jaas import PLAIN_MODULE, parse_jaas


def test_an_entry_as_kafkas_guide_writes_it():
    entry = parse_jaas(
        f"""{PLAIN_MODULE} required
          username="admin"
          password="admin-secret"
          user_admin="admin-secret"
          user_alice="al;ice=\\"x\\"";"""
    )
    assert entry.module == PLAIN_MODULE
    assert (entry.username, entry.password) == ("admin", "admin-secret")
    assert entry.users == {"admin": "admin-secret", "alice": 'al;ice="x"'}


@pytest.mark.parametrize("text", ["m required a='b c';", "m REQUIRED a = 'b c' ;"])
def test_quotes_and_blanks(text):
    assert parse_jaas(text).options == {"a": "b c"}


def test_a_value_needs_no_quotes():
    assert parse_jaas("m required serviceName=kafka;").options == {"serviceName": "kafka"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        ";",
        "m",
        "m required",
        "m required a=b",
        "m required a;",
        'm required a="secret;',
        'm required a="secret" ; n required;',
        "m needed a=secret;",
    ],
)
def test_the_error_for_an_invalid_entry_does_not_contain_its_text(text):
    with pytest.raises(ValueError, match=r"\w") as caught:
        parse_jaas(text)
    assert "secret" not in str(caught.value)


def test_secrets_are_not_shown():
    assert "hidden" not in repr(parse_jaas('m required password="hidden";'))
