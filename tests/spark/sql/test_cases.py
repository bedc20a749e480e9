"""`barnabas test`: the examples pass, and a case that is wrong fails with a diff.

Run in this process: the command uses the Spark session that is there, and leaves it running.
"""

import json
import shutil
from pathlib import Path

import pytest

from barnabas.cli.main import main

EXAMPLES = Path(__file__).parents[3] / "examples" / "sql_cases"
pytestmark = [
    pytest.mark.integration,
    pytest.mark.xdist_group("spark-queries"),
    pytest.mark.timeout(600),
]


def test_the_examples_pass_and_a_wrong_case_fails(spark, tmp_path, capsys):
    place = tmp_path / "cases"
    shutil.copytree(EXAMPLES, place)
    wrong = place / "wrong"
    (wrong / "expected").mkdir(parents=True)
    (wrong / "case.sql").write_text(
        "CREATE STREAM s (n INT) WITH (partitions=1); INSERT INTO s VALUES (1);"
    )
    (wrong / "expected" / "s.jsonl").write_text('{"value": {"n": 2}}\n')
    assert main(["test", str(place), "--format", "json"]) == 3
    outcomes = {item["case"]: item for item in json.loads(capsys.readouterr().out)}
    failed = {name: item["problems"] for name, item in outcomes.items() if not item["passed"]}
    assert list(failed) == ["wrong"], failed
    assert '-{"value": {"n": 2}}' in failed["wrong"][0]
    assert '+{"value": {"n": 1}}' in failed["wrong"][0]
    expected = ["final_windows", "hello", "json_tags", "refused", "spent_by_customer", "wrong"]
    assert sorted(outcomes) == expected
    assert spark.range(1).count() == 1


def test_wrong_usage(tmp_path, capsys):
    assert main(["test", str(tmp_path / "nowhere")]) == 2
    assert main(["test", str(tmp_path)]) == 2
    assert "no test case" in capsys.readouterr().err
    assert main(["test", str(EXAMPLES), "-k", "nothing"]) == 2
