"""The limit of open files of a broker process."""

import resource

import pytest

from barnabas.cli.servers.serving import raise_descriptor_limit


@pytest.fixture
def limits(monkeypatch):
    found = {"now": (1024, 20_000)}
    monkeypatch.setattr(resource, "getrlimit", lambda _: found["now"])
    monkeypatch.setattr(resource, "setrlimit", lambda _, wanted: found.update(now=wanted))
    return found


def test_the_soft_limit_becomes_the_hard_limit(limits):
    raise_descriptor_limit()
    assert limits["now"] == (20_000, 20_000)


def test_a_rejection_is_no_error(limits, monkeypatch):
    def refuse(_, wanted):
        raise ValueError("not allowed to raise maximum limit")

    monkeypatch.setattr(resource, "setrlimit", refuse)
    raise_descriptor_limit()
    assert limits["now"] == (1024, 20_000)
