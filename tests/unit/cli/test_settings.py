"""Flag over environment over profile over default."""

import argparse

import pytest

from barnabas.cli.framework.connection import client_settings, key_values, read_properties
from barnabas.model.errors import ConfigError

CONFIG = """
profile = "staging"
[profiles.staging]
bootstrap.servers = ["a:1", "b:2"]
"security.protocol" = "SSL"
[profiles.other]
"bootstrap.servers" = "c:3"
"enable.auto.commit" = false
"""


@pytest.fixture
def resolve(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text(CONFIG)

    def run(environment=None, **arguments):
        variables = {"BARNABAS_CONFIG": str(path), **(environment or {})}
        return client_settings(argparse.Namespace(**arguments), variables)

    return run


def test_the_default_address_is_localhost_9092():
    found = client_settings(argparse.Namespace(), {"HOME": "/nowhere"})
    assert found == {"bootstrap.servers": "localhost:9092"}


def test_a_profile_is_selected_by_option_or_variable(resolve):
    assert resolve() == {"bootstrap.servers": "a:1,b:2", "security.protocol": "SSL"}
    assert resolve(profile="other")["bootstrap.servers"] == "c:3"
    assert resolve(profile="other")["enable.auto.commit"] == "false"
    assert resolve({"BARNABAS_PROFILE": "other"})["bootstrap.servers"] == "c:3"
    with pytest.raises(ConfigError, match=r"it has: other, staging"):
        resolve(profile="nonsense")


def test_a_profile_needs_a_file():
    with pytest.raises(ConfigError, match="does not exist"):
        client_settings(argparse.Namespace(profile="x"), {"HOME": "/nowhere"})


def test_a_file_that_was_named_has_to_be_there():
    with pytest.raises(ConfigError, match="BARNABAS_CONFIG: file /nowhere/x does not exist"):
        client_settings(argparse.Namespace(), {"BARNABAS_CONFIG": "/nowhere/x"})


@pytest.mark.parametrize(
    ("content", "key"),
    [
        ('profil = "local"', "profil"),
        ('[profile.local]\n"bootstrap.servers" = "a:1"', "profile"),
        ('profiles = "local"', "profiles"),
        ('[profiles]\nlocal = "a:1"', "profiles.local"),
        ('"bootstrap.servers" = "a:1"', "bootstrap.servers"),
    ],
)
def test_unknown_keys_in_the_file_with_profiles_are_rejected(resolve, tmp_path, content, key):
    (tmp_path / "config.toml").write_text(content)
    with pytest.raises(ConfigError, match=f"config.toml: '{key}' is not valid here"):
        resolve()


def test_a_file_that_is_no_text(tmp_path):
    path = tmp_path / "server.properties"
    path.write_bytes(b"broker.id=\xff")
    with pytest.raises(ConfigError, match=r"server.properties: is not UTF-8 text"):
        read_properties(path)


def test_variables_of_other_parts_are_no_client_settings(resolve):
    assert resolve({"BARNABAS_STATE_DIR": "/x", "BARNABAS_LOG_LEVEL": "INFO"}) == resolve()


def test_the_environment_beats_the_profile(resolve):
    assert resolve({"KAFKA_BROKERS": "k:1"})["bootstrap.servers"] == "k:1"
    both = {"KAFKA_BOOTSTRAP_SERVERS": "k:1", "BARNABAS_BOOTSTRAP_SERVERS": "b:1"}
    assert resolve(both)["bootstrap.servers"] == "b:1"
    assert resolve({"BARNABAS_SECURITY_PROTOCOL": "PLAINTEXT"})["security.protocol"] == "PLAINTEXT"


def test_flags_beat_everything(resolve, tmp_path):
    environment = {"BARNABAS_BOOTSTRAP_SERVERS": "b:1"}
    file = tmp_path / "client.properties"
    file.write_text("# comment\nbootstrap.servers=f:1\nlinger.ms: 7\n")
    assert resolve(environment, command_config=str(file))["bootstrap.servers"] == "f:1"
    found = resolve(environment, command_config=str(file), properties=["linger.ms=8"])
    assert found["linger.ms"] == "8"
    assert resolve(environment, bootstrap_server="x:1")["bootstrap.servers"] == "x:1"


def test_a_properties_file_follows_the_rules_of_java(tmp_path):
    path = tmp_path / "p"
    path.write_text("a=1\n! c\nb = x=y\nlong=a\\\n  b\n\n")
    assert read_properties(path) == {"a": "1", "b": "x=y", "long": "ab"}
    path.write_text("# a comment \\\nb=1\nc=C\\:\\\\dir\n")
    assert read_properties(path) == {"b": "1", "c": "C:\\dir"}
    path.write_text("a=\\u12\n")
    with pytest.raises(ConfigError, match=r"p: .*four hexadecimal digits"):
        read_properties(path)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_properties(tmp_path / "absent")


def test_a_setting_without_key_or_equals_sign_is_rejected():
    for text in ("nonsense", "=x"):
        with pytest.raises(ConfigError, match="KEY=VALUE"):
            key_values([text], "-X")


@pytest.mark.parametrize("name", ["SOAK", "HOME", "BENCH_PEER", "KAFKA_JARS", "VERSION", "X"])
def test_unrelated_variables_are_ignored(resolve, name):
    assert resolve({f"BARNABAS_{name}": "1"}) == resolve()


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("BOOTSTRAP_SERVER", "BOOTSTRAP_SERVERS"),
        ("SECURITY_PROTOCL", "SECURITY_PROTOCOL"),
        ("LOG_LEVL", "LOG_LEVEL"),
        ("PROFIL", "PROFILE"),
    ],
)
def test_a_variable_that_looks_like_a_typo_is_named(resolve, typo, meant):
    with pytest.raises(ConfigError, match=f"BARNABAS_{typo} is not .* BARNABAS_{meant}"):
        resolve({f"BARNABAS_{typo}": "x"})


def test_a_key_of_any_client_is_read_from_the_environment(resolve):
    assert resolve({"BARNABAS_LINGER_MS": "7"})["linger.ms"] == "7"


def test_arguments_may_refer_to_secrets(resolve, monkeypatch, tmp_path):
    monkeypatch.setenv("PASSWORD", "from the environment")
    (tmp_path / "secrets").write_text("user=from a file")
    settings = resolve(
        properties=[
            "sasl.password=${env:PASSWORD}",
            f"sasl.username=${{file:{tmp_path}/secrets:user}}",
        ]
    )
    assert settings["sasl.password"] == "from the environment"
    assert settings["sasl.username"] == "from a file"
