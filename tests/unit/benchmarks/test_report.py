"""Figures, goals, and what a partial run keeps of the last one."""

import pytest

from benchmarks.fixed_rate_driver import percentiles
from benchmarks.growth import exponent
from benchmarks.metrics_cost import interval
from benchmarks.plots import file_name, group, series_of
from benchmarks.report import Figure, Report, load, markdown, summary


@pytest.mark.parametrize(
    ("ratio", "goal", "met"),
    [
        (1.5, ">= 1.5", True),
        (1.4, ">= 1.5", False),
        (1.0, "<= 1", True),
        (1.1, "<= 1", False),
        (1.0, "", None),
        (1.0, "session of 2 s + 3 s", None),
    ],
)
def test_a_ratio_is_compared_with_the_goal(ratio, goal, met):
    assert Figure("a", 7.0, "s", beside="b", ratio=ratio, goal=goal).met is met


def test_without_a_ratio_the_value_is_compared():
    assert Figure("start", 400.0, "ms", goal="< 500").met
    assert not Figure("start", 500.0, "ms", goal="< 500").met


def test_the_summary_names_what_is_missed():
    figures = [
        Figure("good", 2.0, "1/s", beside="x", ratio=2.0, goal=">= 1"),
        Figure("bad", 1.0, "1/s", beside="x", ratio=0.5, goal=">= 1"),
        Figure("plain", 1.0, "1/s"),
    ]
    first, second = summary(figures).splitlines()
    assert first == "1 of 2 goals met"
    assert "bad" in second


def test_the_table_marks_misses():
    text = markdown([Figure("bad", 1234.0, "1/s", beside="x", ratio=0.5, goal=">= 1")])
    assert "| bad | 1,234 1/s | x | **0.50 (missed)** | >= 1 |" in text


def test_saved_figures_are_read_again(tmp_path):
    report = Report("s")
    report.add("a", 1.0, "s", beside="b", ratio=2.0, goal=">= 1", plot="p", series="q", x=3)
    assert load(report.save(tmp_path)) == report.figures


def test_a_partial_run_replaces_its_own_figures_only(tmp_path):
    first = Report("s")
    first.add("a", 1.0, "s")
    first.add("b", 1.0, "s")
    first.save(tmp_path)
    second = Report("s", merge=True)
    second.add("b", 2.0, "s")
    path = second.save(tmp_path)
    assert [(figure.name, figure.value) for figure in load(path)] == [("a", 1.0), ("b", 2.0)]


def test_points_of_a_plot_are_in_the_order_of_x():
    figures = [
        Figure("a", 20.0, "s", plot="growth: x", series="create", x=2),
        Figure("b", 10.0, "s", plot="growth: x", series="create", x=1),
        Figure("c", 1.0, "s"),
    ]
    assert series_of(group(figures)["growth: x"]) == {"create": [(1, 10.0), (2, 20.0)]}


def test_the_file_of_a_plot_has_a_plain_name():
    assert file_name("growth: partitions, CPU s") == "growth-partitions-cpu-s.svg"


def test_the_exponent_of_growth():
    assert exponent([(10, 1.0), (100, 10.0)]) == pytest.approx(1)
    assert exponent([(10, 1.0), (100, 100.0)]) == pytest.approx(2)
    assert exponent([(10, 1.0)]) is None


def test_percentiles_of_latency():
    found = percentiles([number / 1000 for number in range(1, 1001)])
    assert found == pytest.approx({"p50_ms": 501, "p99_ms": 991, "p99.9_ms": 1000})


def test_figures_are_saved_one_by_one(tmp_path):
    report = Report("s", autosave=tmp_path)
    for number in range(2):
        report.add(str(number), 1.0, "s")
        assert load(tmp_path / "s.json") == report.figures


def test_the_interval_of_a_median():
    low, high = interval([0.9 + number / 100 for number in range(21)])
    assert 0.9 < low < 1.0 < high < 1.1
