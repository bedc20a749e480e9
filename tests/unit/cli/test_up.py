"""`barnabas up`: the settings it starts its broker with."""

import argparse

import pytest

from barnabas.cli.servers import serving, up


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
