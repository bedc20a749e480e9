"""Test cases in files: statements or a topology, input records and expected results.

    orders_by_region/
      case.sql                  statements; or case.py with `topology()`
      input/orders.jsonl        records of a topic
      expected/totals.jsonl     the final records of a stream, a table or a topic
      expected.jsonl            the rows of the last SELECT
      expected.error            or: a part of the error that the case must end with

A line of input is `{"key": …, "value": …, "timestamp": ms, "partition": n, "step": n}`; only the
value is required. Keys and values that are text are written as they are, others as JSON; null is a
record without a value. Time is the time of the records. All records of a step are written before
the queries run; then follow those of the next step.

An expected line has the keys to compare: `key`, `value`, `timestamp`. Of a table the newest record
of each key is compared; of a stream all records, in the order of each key.
"""

import difflib
import itertools
import json
import runpy
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from barnabas.admin import Admin, ConfigResource
from barnabas.clients.producer import Producer
from barnabas.clients.simple import SimpleConsumer
from barnabas.model.errors import BarnabasError, ConfigError
from barnabas.streams.run import Runner
from barnabas.streams.sql.engine.engine import Engine
from barnabas.streams.sql.engine.results import StreamResult, TableResult
from barnabas.streams.sql.engine.session import OFFSET_RESET, LazySparkSession
from barnabas.streams.sql.language.parser import parse_statements
from barnabas.streams.sql.language.statements import RelationKind, SelectStatement
from barnabas.streams.topics import wait_until_visible

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SQL, PYTHON = "case.sql", "case.py"
INPUT_KEYS = {"key", "value", "timestamp", "partition", "step", "headers"}
SEND_SECONDS = 30.0
RUN_SECONDS = 300.0
"""The limit for one query over the few records of a case."""


@dataclass(frozen=True, slots=True)
class InputRecord:
    """An input record; records with the same `step` are written together."""

    topic: str
    key: bytes | None
    value: bytes | None
    timestamp: int | None
    partition: int | None
    step: int


@dataclass(frozen=True, slots=True)
class Case:
    """A directory with a test case."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def sql(self) -> str | None:
        file = self.path / SQL
        return file.read_text(encoding="utf-8") if file.exists() else None

    @property
    def expected_error(self) -> str | None:
        file = self.path / "expected.error"
        return file.read_text(encoding="utf-8").strip() if file.exists() else None

    @property
    def expected_rows(self) -> list[dict[str, object]] | None:
        file = self.path / "expected.jsonl"
        return [row for _, row in _lines(file)] if file.exists() else None

    def inputs(self) -> list[InputRecord]:
        """Returns all input records, by step."""
        found = [
            _input(file, number, line)
            for file in sorted((self.path / "input").glob("*.jsonl"))
            for number, line in _lines(file)
        ]
        return sorted(found, key=lambda record: record.step)

    def input_topics(self) -> list[str]:
        return sorted(file.stem for file in (self.path / "input").glob("*.jsonl"))

    def expected(self) -> dict[str, list[dict[str, object]]]:
        """Returns the expected records of each stream, table or topic."""
        files = sorted((self.path / "expected").glob("*.jsonl"))
        return {file.stem: [_as_read(row) for _, row in _lines(file)] for file in files}


def find_cases(directory: Path) -> list[Case]:
    """Returns the cases below a directory, by name; ConfigError if there is none."""
    found = {file.parent for name in (SQL, PYTHON) for file in directory.rglob(name)}
    if not found:
        raise ConfigError(f"{directory}: no test case found: a directory with {SQL} or {PYTHON}")
    return [Case(path) for path in sorted(found)]


def _lines(file: Path) -> Iterator[tuple[int, dict[str, object]]]:
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("//"):
            continue
        try:
            parsed = json.loads(line)
        except ValueError as error:
            raise ConfigError(f"{file}:{number}: {error}") from None
        if not isinstance(parsed, dict):
            raise ConfigError(f"{file}:{number}: a line must be a JSON object")
        yield number, parsed


def _input(file: Path, number: int, line: dict[str, Any]) -> InputRecord:
    unknown = set(line) - INPUT_KEYS
    if unknown or "value" not in line:
        wrong = f"unknown {', '.join(sorted(unknown))}" if unknown else "no value"
        raise ConfigError(f"{file}:{number}: {wrong}; keys are {', '.join(sorted(INPUT_KEYS))}")
    return InputRecord(
        file.stem,
        encoded(line.get("key")),
        encoded(line["value"]),
        line.get("timestamp"),
        line.get("partition"),
        line.get("step", 1),
    )


def _as_read(line: dict[str, object]) -> dict[str, object]:
    """Returns an expected line as a record is read: the key "7" has the same bytes as 7."""
    again: dict[str, object] = {
        name: decoded(encoded(line[name])) for name in ("key", "value") if name in line
    }
    return {**line, **again}


def encoded(value: object) -> bytes | None:
    """Returns text as it is and other values as JSON; null stays null."""
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode()
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def decoded(data: bytes | None) -> object:
    """Returns parsed JSON if it is JSON, else text, else hex."""
    if data is None:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "0x" + data.hex()
    try:
        return json.loads(text)
    except ValueError:
        return text


Line = dict[str, object]


def newest(records: Sequence[Line]) -> list[Line]:
    """Returns the rows of a table: the last record of each key, without deleted keys."""
    last: dict[str, Line] = {}
    for record in records:
        last.pop(text(record["key"]), None)
        last[text(record["key"])] = record
    return [record for record in last.values() if record["value"] is not None]


def difference(expected: Sequence[Line], found: Sequence[Line], name: str) -> str | None:
    """Returns None if they are equal, else a diff. Only keys of the expected lines are compared.

    Records of different keys have no order between them: both sides are sorted by key, and the
    records of a key keep their order.
    """
    shape = [key for line in expected for key in line]
    keys = [key for key in ("key", "value", "timestamp", "partition") if key in shape]
    if not expected:
        keys = ["key", "value"]
    wanted = _ordered(_cut(expected, keys), "key" in keys)
    got = _ordered(_cut(_normal(found), keys), "key" in keys)
    return _diff(wanted, got, name)


def rows_difference(expected: Sequence[Line], found: Sequence[Line], name: str) -> str | None:
    """Returns the difference of the rows of a SELECT, in their order."""
    return _diff([text(row) for row in expected], [text(row) for row in _normal(found)], name)


def _diff(wanted: list[str], got: list[str], name: str) -> str | None:
    if wanted == got:
        return None
    lines = difflib.unified_diff(wanted, got, f"expected {name}", f"found {name}", lineterm="")
    return "\n".join(lines)


def _cut(lines: Sequence[Line], keys: Sequence[str]) -> list[Line]:
    return [{key: line.get(key) for key in keys} for line in lines]


def _ordered(lines: list[Line], by_key: bool) -> list[str]:
    if not by_key:
        return sorted(text(line) for line in lines)
    return [text(line) for line in sorted(lines, key=lambda line: text(line["key"]))]


def _normal(lines: Sequence[Line]) -> list[Line]:
    """Returns values as JSON represents them: decimals as numbers, times as text."""
    found: list[Line] = json.loads(json.dumps(list(lines), default=str))
    return found


def text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a case; `problems` is empty if all results are as expected."""

    case: Case
    problems: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.problems


def run_case(case: Case, bootstrap_servers: str, spark: "SparkSession | None" = None) -> Outcome:
    """Runs one case; the broker must not have other topics."""
    try:
        problems = list(_run(case, bootstrap_servers, spark))
    except BarnabasError as error:
        expected = case.expected_error
        if expected is not None and expected in str(error):
            return Outcome(case, ())
        return Outcome(case, (str(error),))
    if case.expected_error is not None:
        problems.append(f"expected the error {case.expected_error!r}, but the case succeeded")
    return Outcome(case, tuple(problems))


def _run(case: Case, servers: str, spark: "SparkSession | None") -> Iterator[str]:
    _make_topics(case, servers)
    steps = [list(group) for _, group in itertools.groupby(case.inputs(), lambda r: r.step)]
    with tempfile.TemporaryDirectory(prefix="barnabas-case-") as directory:
        if case.sql is None:
            _run_topology(case, steps, servers, directory, spark)
            yield from _compared(case, servers, {})
            return
        with Engine(
            {"bootstrap.servers": servers}, state_dir=directory, spark=spark, run_queries=False
        ) as engine:
            engine.properties[OFFSET_RESET] = "earliest"
            yield from _run_sql(case, steps, servers, engine)


def _run_sql(
    case: Case, steps: list[list[InputRecord]], servers: str, engine: Engine
) -> Iterator[str]:
    assert case.sql is not None
    statements = parse_statements(case.sql)
    last = statements[-1] if statements and isinstance(statements[-1], SelectStatement) else None
    _produce(steps[0] if steps else [], servers)
    for statement in statements:
        if statement is not last:
            engine.execute(statement)
    engine.run_available(RUN_SECONDS)
    for step in steps[1:]:
        _produce(step, servers)
        engine.run_available(RUN_SECONDS)
    if case.expected_rows is not None:
        if last is None:
            raise ConfigError(f"{case.name}: expected.jsonl needs a SELECT at the end of case.sql")
        found = _rows(engine, last)
        problem = rows_difference(case.expected_rows, found, "rows")
        if problem is not None:
            yield problem
    relations = {r.name.lower(): (r.topic, r.kind) for r in engine.catalog.relations}
    yield from _compared(case, servers, relations)


def _rows(engine: Engine, statement: SelectStatement) -> list[dict[str, Any]]:
    if statement.query.emit is not None:
        return [dict(row) for row in engine.push_to_end(statement.query, RUN_SECONDS).rows]
    result = engine.execute(statement)
    assert isinstance(result, TableResult | StreamResult)
    return [dict(row) for row in result.rows]


def _run_topology(
    case: Case,
    steps: list[list[InputRecord]],
    servers: str,
    directory: str,
    spark: "SparkSession | None",
) -> None:
    """Runs the topology of `topology()` in case.py; topics have the names of the files."""
    made = runpy.run_path(str(case.path / PYTHON)).get("topology")
    if made is None:
        raise ConfigError(f"{case.path / PYTHON}: no function topology()")
    runner = Runner(made(), bootstrap_servers=servers, checkpoint=directory, spark=spark)
    for step in steps or [[]]:
        _produce(step, servers)
        runner.run(RUN_SECONDS)


def _compared(
    case: Case, servers: str, relations: dict[str, tuple[str, RelationKind]]
) -> Iterator[str]:
    for name, expected in case.expected().items():
        topic, kind = relations.get(name.lower(), (name, RelationKind.STREAM))
        found = _records(topic, servers)
        if kind is RelationKind.TABLE or _compacted(topic, servers):
            found = newest(found)
        problem = difference(expected, found, name)
        if problem is not None:
            yield problem


def _compacted(topic: str, servers: str) -> bool:
    with Admin(bootstrap_servers=servers) as admin:
        resource = ConfigResource.topic(topic)
        found = admin.describe_configs([resource], names=["cleanup.policy"])[resource]
        return "compact" in str(found["cleanup.policy"].value)


def _make_topics(case: Case, servers: str) -> None:
    partitions = dict.fromkeys(case.input_topics(), 1)
    for record in case.inputs():
        if record.partition is not None:
            partitions[record.topic] = max(partitions[record.topic], record.partition + 1)
    with Admin(bootstrap_servers=servers) as admin:
        for topic, count in partitions.items():
            # Timestamps of cases are small numbers, so retention would delete the records.
            admin.create_topic(topic, count, configs={"retention.ms": "-1"})


def _produce(records: list[InputRecord], servers: str) -> None:
    with Producer(bootstrap_servers=servers) as producer:
        sent = [
            producer.send(
                record.topic,
                record.value,
                key=record.key,
                partition=record.partition,
                timestamp=record.timestamp,
            )
            for record in records
        ]
        for future in sent:
            future.result(timeout=SEND_SECONDS)


def _records(topic: str, servers: str) -> list[Line]:
    """Returns all committed records of a topic, partition by partition."""
    wait_until_visible({"bootstrap.servers": servers}, [topic])
    with SimpleConsumer(bootstrap_servers=servers, isolation_level="read_committed") as consumer:
        return [
            {
                "key": decoded(record.key),
                "value": decoded(record.value),
                "timestamp": record.timestamp,
                "partition": record.partition,
            }
            for partition in consumer.partitions(topic)
            for record in consumer.records(topic, partition)
        ]


@contextmanager
def one_session() -> Iterator["SparkSession"]:
    """Returns a Spark session for many cases; a context manager."""
    directory = Path(tempfile.mkdtemp(prefix="barnabas-cases-"))
    lazy_session = LazySparkSession(log_file=directory / "spark.log", short_life=True)
    try:
        yield lazy_session.session
    finally:
        lazy_session.close()
