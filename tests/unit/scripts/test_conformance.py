"""The conformance page: one row per scenario, marks by client, reasons by number."""

from scripts.conformance import page


def result(client, broker, verdict, reason=""):
    return {
        "scenario": "s",
        "client": client,
        "broker": broker,
        "verdict": verdict,
        "reason": reason,
    }


def row_of(*results):
    run = {
        "clients": {"java": "4.3.0"},
        "scenarios": [{"name": "s", "area": "groups", "title": "A member leaves."}],
        "results": list(results),
    }
    text = page(run)
    (row,) = [line for line in text.splitlines() if "`s`" in line]
    return text, [cell.strip() for cell in row.strip("|").split("|")]


def test_one_mark_stands_for_all_brokers_that_agree():
    _, row = row_of(result("java", "single", "same"), result("java", "kafka", "same"))
    assert row == ["A member leaves. `s`", "", "", "", "", "", "="]


def test_brokers_that_disagree_are_named_and_reasons_are_numbered():
    text, row = row_of(
        result("barnabas", "single", "same"),
        result("barnabas", "kafka", "different", "a reason"),
        result("aiokafka", "single", "missing", "no such call"),
    )
    assert row[1] == "single =, kafka ≠ 1"
    assert row[5] == "none 2"
    assert "| 1 | a reason |" in text
    assert "| 2 | no such call |" in text
    assert "| barnabas | kafka | 0 | 1 | 0 | 0 |" in text
