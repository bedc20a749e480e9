"""Pages generated from code: their contents, and the error for a stale page."""

import sys

import pytest

from barnabas.model.config import ConfigKey, ConfigType, at_least, between, one_of
from scripts import compatibility, configuration
from scripts.generated_page import write_or_check


def key(kind, validator):
    return ConfigKey("a.key", kind, None, "doc", validator)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (key(ConfigType.INT, at_least(0)), "at least 0"),
        (key(ConfigType.LONG, between(1, 9)), "between 1 and 9"),
        (key(ConfigType.STRING, one_of("a", "")), "one of: a, empty"),
        (key(ConfigType.STRING, None), ""),
    ],
)
def test_a_validator_is_made_to_say_what_it_allows(given, said):
    assert configuration.constraint(given) == said


def test_a_page_is_written_and_a_stale_one_is_reported(tmp_path, monkeypatch, capsys):
    page = tmp_path / "docs" / "page.md"
    monkeypatch.setattr(sys, "argv", ["make"])
    assert write_or_check(page, "new", "make it") == 0
    monkeypatch.setattr(sys, "argv", ["make", "--check"])
    assert write_or_check(page, "new", "make it") == 0
    assert write_or_check(page, "newer", "make it") == 1
    assert "run `make it`" in capsys.readouterr().err
    assert write_or_check(tmp_path / "absent.md", "new", "make it") == 1


def test_every_api_is_on_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["make"])
    monkeypatch.setattr(compatibility, "PAGE", tmp_path / "page.md")
    assert compatibility.main() == 0
    text = (tmp_path / "page.md").read_text()
    assert "| 18 | ApiVersions | 0 to 4 | 0 to 4 |" in text
    assert "| 4 | LeaderAndIsr | " in text


def test_every_table_is_on_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["make"])
    monkeypatch.setattr(configuration, "PAGE", tmp_path / "page.md")
    assert configuration.main() == 0
    text = (tmp_path / "page.md").read_text()
    for name in ("linger.ms", "max.poll.interval.ms", "default.api.timeout.ms", "retention.ms"):
        assert f"| `{name}` |" in text
