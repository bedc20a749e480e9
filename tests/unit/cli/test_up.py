"""`barnabas up`: the settings it starts its broker with."""

import argparse

import pytest

from barnabas.cli.servers import local_cluster, serving, up
from barnabas.model.errors import ConfigError


@pytest.fixture
def started(monkeypatch):
    """Runs `barnabas up` with arguments; returns the settings given to the broker."""
    given = {}

    def run_broker(settings, _log_level, _log_format, _started):
        given.update(settings)
        return 0

    def run(*arguments):
        parser = argparse.ArgumentParser()
        up.add_arguments(parser)
        assert up.run(parser.parse_args(arguments)) == 0
        return given

    monkeypatch.setattr(serving, "run_broker", run_broker)
    return run


def test_the_first_rebalance_of_a_group_starts_without_delay(started):
    assert started()["group.initial.rebalance.delay.ms"] == 0


def test_an_explicit_rebalance_delay_is_kept(started):
    settings = started("-X", "group.initial.rebalance.delay.ms=700")
    assert settings["group.initial.rebalance.delay.ms"] == "700"


def test_a_secret_is_read_from_the_environment(started, monkeypatch):
    """`ps` shows the arguments."""
    monkeypatch.setenv("KEY_PASSWORD", "secret")
    assert started("-X", "ssl.key.password=${env:KEY_PASSWORD}")["ssl.key.password"] == "secret"


def test_the_configuration_files_of_a_cluster_have_no_secrets(monkeypatch, tmp_path):
    configs = []
    monkeypatch.setenv("KEY_PASSWORD", "secret")
    monkeypatch.setattr(local_cluster, "run_cluster", lambda config, _: configs.append(config) or 0)
    monkeypatch.setattr(serving, "set_up_logging", lambda *_: None)
    parser = argparse.ArgumentParser()
    up.add_arguments(parser)
    given = "ssl.key.password=${env:KEY_PASSWORD}"
    up.run(parser.parse_args(["--brokers", "3", "--data-dir", str(tmp_path), "-X", given]))
    assert configs[0].settings["ssl.key.password"] == "${env:KEY_PASSWORD}"


@pytest.mark.parametrize("brokers", ["1", "3"])
def test_a_missing_variable_is_named(monkeypatch, tmp_path, brokers):
    monkeypatch.setattr(serving, "set_up_logging", lambda *_: None)
    parser = argparse.ArgumentParser()
    up.add_arguments(parser)
    given = [
        "--brokers",
        brokers,
        "--data-dir",
        str(tmp_path),
        "-X",
        "ssl.key.password=${env:NONE}",
    ]
    with pytest.raises(ConfigError, match=r"-X: ssl.key.password: .*NONE"):
        up.run(parser.parse_args(given))


def test_a_console_that_is_not_installed_ends_the_command(started, monkeypatch):
    """The broker would start, and the user would not see why there is no console."""
    monkeypatch.setattr(up.importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ConfigError, match=r"--console: nicegui .* pip install 'barnabas\[console"):
        started("--console")
