"""The first example of docs/sql.md prints the documented output."""

import io
import re
from pathlib import Path

import pytest

from barnabas.cli.nouns.sql_script import Printer, run_script

GUIDE = Path(__file__).parents[3] / "docs" / "sql.md"
pytestmark = [
    pytest.mark.integration,
    pytest.mark.xdist_group("spark-queries"),
    pytest.mark.timeout(600),
]


def test_the_first_example(engine_factory):
    text = GUIDE.read_text()
    script = re.search(r"```sql\n(.*?)```", text, re.DOTALL)[1]
    printed = re.search(r"prints\n\n```\n(.*?)```", text, re.DOTALL)[1]
    # Other tests use the broker too: topics of this one's own.
    script = script.replace("kafka_topic='pageviews'", "kafka_topic='guide_pageviews'")
    script = script.replace("kafka_topic='users'", "kafka_topic='guide_users'")
    script = script.replace("STREAM enriched AS", "STREAM enriched WITH (kafka_topic='guide_e') AS")
    script = script.replace(
        "TABLE views_by_region AS", "TABLE views_by_region WITH (kafka_topic='guide_v') AS"
    )
    out = io.StringIO()
    code = run_script(engine_factory("guide"), script, Printer("table", out), keep_running=False)
    assert code == 0
    assert out.getvalue().endswith(printed)
