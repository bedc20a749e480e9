"""Secrets by reference in configuration files."""

from pathlib import Path

import pytest

from barnabas.model.errors import ConfigError
from barnabas.model.properties import resolve

PACKAGE = "org.apache.kafka.common.config.provider"
FILES = {"/s.properties": "key.password=top secret\nempty=\n", "/run/pem": "-----BEGIN\n"}


def read(path: Path) -> str:
    if str(path) not in FILES:
        raise FileNotFoundError(2, "No such file or directory")
    return FILES[str(path)]


def resolved(settings: dict[str, str]) -> dict[str, str]:
    return resolve(settings, {"PASSWORD": "p:}w"}, read)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("${env:PASSWORD}", "p:}w"),
        ('user="a" password="${env:PASSWORD}";', 'user="a" password="p:}w";'),
        ("${file:/s.properties:key.password}", "top secret"),
        ("${file:/s.properties:empty}", ""),
        ("${directory:/run:pem}", "-----BEGIN"),
        ("${env:PASSWORD}${env:PASSWORD}", "p:}wp:}w"),
        ("${vault:x}", "${vault:x}"),
        ("$PASSWORD ${PASSWORD} $1", "$PASSWORD ${PASSWORD} $1"),
    ],
)
def test_references_are_replaced_by_their_values(value: str, expected: str) -> None:
    assert resolved({"a": value}) == {"a": expected}


def test_providers_may_have_other_names() -> None:
    settings = {
        "config.providers": "secrets",
        "config.providers.secrets.class": f"{PACKAGE}.FileConfigProvider",
        "a": "${secrets:/s.properties:key.password} ${env:PASSWORD}",
    }
    assert resolved(settings) == {"a": "top secret ${env:PASSWORD}"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"a": "${env:MISSING}"}, r"a: \$\{env:MISSING\}: there is no environment variable"),
        ({"a": "${file:/no:x}"}, "/no: cannot be read"),
        ({"a": "${file:/s.properties:x}"}, "there is no x in /s.properties"),
        ({"a": "${file:x}"}, "must have the form"),
        ({"config.providers": "vault"}, r"config\.providers\.vault\.class"),
    ],
)
def test_mistakes_name_the_setting(settings: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as refused:
        resolved(settings)
    assert "top secret" not in str(refused.value)
