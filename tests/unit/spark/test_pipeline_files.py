"""Pipelines in files: every error names its file and line."""

import textwrap
from pathlib import Path

import pytest

from barnabas.model.errors import ConfigError
from barnabas.spark.pipeline import AddColumns, Drop, Select, Sql, TableSink, Watermark, Where
from barnabas.spark.pipeline_files import load

WHOLE = """\
name: counts
bootstrap_servers: h:9092
source:
  topics: [a, b]
  format: json
  schema: user string, at timestamp
  starting: latest
  options: {maxOffsetsPerTrigger: 1000}
steps:
  - where: user IS NOT NULL
  - add_columns: {minute: "date_trunc('minute', at)"}
  - watermark: {column: at, delay: 1 hour}
  - sql: SELECT user, count(*) AS n FROM input GROUP BY user
  - select: [user, n]
  - drop: n
sink:
  database: sqlite:///c.db
  table: counts
  keys: [user]
  mode: update
dead_letters: {topic: bad}
checkpoint: /tmp/c
trigger: 5 seconds
kafka: {client.id: 007}
spark:
  master: local[1]
  conf: {spark.sql.shuffle.partitions: 3}
"""


@pytest.fixture
def write(tmp_path):
    def make(text, name="p.yaml"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text))
        return path

    return make


def test_a_whole_yaml_file(write):
    made = load(write(WHOLE)).pipeline
    assert made.source.topics == ("a", "b")
    assert made.source.options == {"maxOffsetsPerTrigger": "1000"}
    assert made.steps == (
        Where("user IS NOT NULL"),
        AddColumns({"minute": "date_trunc('minute', at)"}),
        Watermark("at", "1 hour"),
        Sql("SELECT user, count(*) AS n FROM input GROUP BY user"),
        Select(["user", "n"]),
        Drop(["n"]),
    )
    assert made.sink == TableSink("sqlite:///c.db", "counts", ["user"], "update")
    assert made.dead_letters.topic == "bad"
    assert (made.trigger, made.master) == ("5 seconds", "local[1]")
    assert (made.kafka, made.spark) == (
        {"client.id": "007"},
        {"spark.sql.shuffle.partitions": "3"},
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  format: json", "  fromat: json", "p.yaml:5: source.fromat: is not a key here; did you"),
        ("  mode: update", "  mode: upsert", "p.yaml:20: sink.mode: 'upsert' must be one of"),
        ("  - drop: n", "  - dorp: n", r"p.yaml:15: steps\[5\].dorp: is not a key here"),
        ("  - drop: n", "  - {drop: n, where: x}", r"p.yaml:15: steps\[5\]: must have one of"),
        ("  - drop: n", "  - just text", r"p.yaml:15: steps\[5\]: must have keys"),
        ("  - drop: n", "  - where: ''", r"p.yaml:15: steps\[5\]: condition is empty"),
        ("checkpoint: /tmp/c", "", "p.yaml:1: checkpoint is missing"),
        ("checkpoint: /tmp/c", "checkpoint: [a]", "p.yaml:22: checkpoint: must be a text"),
        (
            "  topics: [a, b]",
            "  topic: a\n  topics: [b]",
            "p.yaml:5: source.topics: give",
        ),
        ("  table: counts", "", "p.yaml:16: sink.table: is empty"),
        ("  database: sqlite:///c.db\n  table: counts\n", "", "p.yaml:16: sink: needs a topic"),
        ("name: counts", "name: counts\nname: again", "p.yaml:2: name: occurs twice"),
        ("name: counts", "name: [", "p.yaml:3: expected"),
        ("  options: {maxOffsetsPerTrigger: 1000}", "  options: 5", "p.yaml:8: source.options"),
    ],
)
def test_an_error_in_yaml_names_the_line(write, old, new, message):
    assert old in WHOLE
    with pytest.raises(ConfigError, match=message):
        load(write(WHOLE.replace(old, new)))


def test_an_empty_file(write):
    with pytest.raises(ConfigError, match=r"p.yaml:1: must have keys"):
        load(write(""))


PYTHON = """\
    from barnabas.spark.pipeline import Pipeline, Source, TopicSink

    def pipeline():
        return Pipeline(
            name="p", source=Source("in"), sink=TopicSink("out"), checkpoint="/tmp/c"
        )
"""


def test_a_python_file_with_a_function_or_a_variable(write):
    assert load(write(PYTHON, "p.py")).pipeline.name == "p"
    again = textwrap.dedent(PYTHON).replace("def pipeline", "def make") + "pipeline = make()\n"
    assert load(write(again, "q.py")).pipeline.name == "p"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "p.py: has no variable or function 'pipeline'"),
        ("pipeline = 5\n", "p.py: has another kind of variable"),
        ("x = 1\npipeline = = 2\n", "p.py:2: SyntaxError"),
        ("x = 1\n\nraise KeyError('a')\n", "p.py:3: KeyError: 'a'"),
        (
            "from barnabas.spark.pipeline import Source\n\nSource()\n",
            "p.py:3: source: needs a topic",
        ),
    ],
)
def test_an_error_in_python_names_the_line(write, text, message):
    with pytest.raises(ConfigError, match=message):
        load(write(text, "p.py"))


def test_invalid_pipeline_files(write, tmp_path):
    with pytest.raises(ConfigError, match="the file does not exist"):
        load(tmp_path / "none.yaml")
    with pytest.raises(ConfigError, match=r"\.py, \.yaml or \.yml"):
        load(write("", "p.txt"))


def test_the_guides_pipelines(write):
    guide = (Path(__file__).parents[3] / "docs" / "pipelines.md").read_text()
    for suffix, mark in ((".yaml", "```yaml"), (".py", "```python")):
        text = guide.partition(mark)[2].partition("```")[0]
        assert load(write(text, f"guide{suffix}")).pipeline.checkpoint.startswith("./checkpoints/")


BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 10) + "]\n" for n in range(1, 12)
)
LADDER = "a0: &a0 x\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 200))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("source: &a\n  topics: [*a]\n", r"p.yaml:1: source.topics.* contains it"),
        ("source: &a [1, {b: *a}]\n", "an alias refers to a value that contains it"),
        (BOMB, "aliases make more than 100000 values"),
        (LADDER, "aliases nest more than 32 levels deep"),
        ("name: x\nsource: " + "[" * 100_000, r"p.yaml:2: nested more than 32 levels deep"),
        ("name: \x01\n", "p.yaml: is not YAML text"),
    ],
    ids=["recursive", "recursive deeper", "bomb", "ladder", "deep", "control character"],
)
def test_a_hostile_file_is_rejected_at_once(write, text, message):
    with pytest.raises(ConfigError, match=message):
        load(write(text))


def test_an_alias_is_a_copy(write):
    text = WHOLE.replace("conf: {", "conf: &c {").replace("kafka: {client.id: 007}", "")
    assert load(write(text + "kafka: *c\n")).pipeline
