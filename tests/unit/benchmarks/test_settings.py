"""A wrong setting of a benchmark run ends it with one line, and keeps the figures of the last."""

import re
from unittest.mock import Mock

import pytest

from benchmarks import __main__ as runner
from benchmarks import matrix, peer, small_requests
from benchmarks.report import Report, load
from benchmarks.settings import SettingError, names, pattern


@pytest.fixture(autouse=True)
def no_brokers(monkeypatch):
    """A run that gets as far as its brokers fails."""
    for suite in (matrix, small_requests):
        monkeypatch.setattr(suite, "sides", Mock(side_effect=AssertionError))


def test_a_wrong_regular_expression_is_an_error(monkeypatch):
    monkeypatch.setenv("BARNABAS_BENCH_CELLS", "produce.*(")
    with pytest.raises(SettingError, match=r"BARNABAS_BENCH_CELLS='produce\.\*\('"):
        pattern("BARNABAS_BENCH_CELLS")


def test_without_a_regular_expression_everything_is_selected(monkeypatch):
    monkeypatch.delenv("BARNABAS_BENCH_CELLS", raising=False)
    assert pattern("BARNABAS_BENCH_CELLS").search("produce, 10 B")


def test_an_unknown_name_is_an_error_with_the_known_ones(monkeypatch):
    monkeypatch.setenv("BARNABAS_BENCH_CLIENTS", "barnabas,confluentt")
    with pytest.raises(SettingError, match="'confluentt'; names: barnabas, confluent"):
        names("BARNABAS_BENCH_CLIENTS", ("barnabas", "confluent"))


@pytest.mark.parametrize("suite", [matrix, small_requests])
def test_a_selection_without_a_cell_is_an_error(monkeypatch, suite):
    monkeypatch.setattr(suite, "SELECTED", re.compile("no such cell"))
    with pytest.raises(SettingError, match="no cell matches BARNABAS_BENCH_CELLS='no such cell'"):
        suite.run(Report("suite"))


def test_a_selection_of_clients_that_no_cell_has_is_an_error(monkeypatch):
    monkeypatch.setattr(matrix, "SELECTED", re.compile("^arrow, "))
    monkeypatch.setattr(matrix, "CLIENTS", ("kafka-python",))
    with pytest.raises(SettingError, match="with the selected clients"):
        matrix.run(Report("suite"))


def test_brokers_are_not_compared_without_a_peer(monkeypatch):
    monkeypatch.setattr(matrix, "COMPARE", ("brokers",))
    monkeypatch.setattr(matrix, "PEER", "")
    with pytest.raises(SettingError, match="needs BARNABAS_BENCH_PEER"):
        matrix.run(Report("suite"))


@pytest.mark.parametrize("address", ["localhost", "/no/such/directory", "localhost:port"])
def test_a_peer_is_an_address_or_a_directory(address):
    with pytest.raises(SettingError, match="neither host:port nor a directory"):
        peer.process_listening_on(address)


def test_a_peer_that_does_not_listen_is_an_error():
    with pytest.raises(SettingError, match="listens on localhost:1"):
        peer.process_listening_on("localhost:1")


def test_a_directory_without_jars_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr(peer.shutil, "which", lambda name: f"/usr/bin/{name}")
    home = tmp_path / "home"
    home.mkdir()
    with (
        pytest.raises(SettingError, match="has no jars"),
        peer.apache_kafka(tmp_path, tmp_path / "home"),
    ):
        pass


def test_a_run_that_measures_nothing_keeps_the_figures_of_the_last(tmp_path):
    last = Report("matrix")
    last.add("produce", 1.0, "records/s")
    last.save(tmp_path)
    Report("matrix").save(tmp_path)
    assert [figure.name for figure in load(tmp_path / "matrix.json")] == ["produce"]


def test_a_wrong_setting_is_one_line_on_stderr(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(Report.save, "__defaults__", (tmp_path,))
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    monkeypatch.setattr(matrix, "SELECTED", re.compile("no such cell"))
    assert runner.main(["matrix"]) == 2
    output = capsys.readouterr()
    assert output.err.startswith("no cell matches")
    assert output.err.count("\n") == 1


def test_help_names_the_suites(capsys):
    assert runner.main(["--help"]) == 0
    assert "small_requests" in capsys.readouterr().out
