"""Runs a case against a broker that has nothing else on it."""

import itertools
import runpy
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from barnabas.admin import Admin, ConfigResource
from barnabas.clients.producer import Producer
from barnabas.clients.simple import SimpleConsumer
from barnabas.model.errors import BarnabasError, ConfigError
from barnabas.streams.sql.cases.case_files import PYTHON, Case, InputRecord, decoded
from barnabas.streams.sql.cases.comparing import Line, difference, newest, rows_difference
from barnabas.streams.sql.engine.engine import Engine
from barnabas.streams.sql.engine.results import Streamed, Table
from barnabas.streams.sql.engine.session import OFFSET_RESET
from barnabas.streams.sql.language.parser import parse_statements
from barnabas.streams.sql.language.statements import RelationKind, Select
from barnabas.streams.visibility import wait_until_visible

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEND_SECONDS = 30.0
RUN_SECONDS = 300.0
"""For one query over the little that a case has."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a case; `problems` are empty when all was as expected."""

    case: Case
    problems: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.problems


def run_case(case: Case, bootstrap_servers: str, spark: "SparkSession | None" = None) -> Outcome:
    """Run one case; the broker must have no topics of others."""
    try:
        problems = list(_run(case, bootstrap_servers, spark))
    except BarnabasError as error:
        expected = case.expected_error
        if expected is not None and expected in str(error):
            return Outcome(case, ())
        return Outcome(case, (str(error),))
    if case.expected_error is not None:
        problems.append(f"expected the error {case.expected_error!r}, and there was none")
    return Outcome(case, tuple(problems))


def _run(case: Case, servers: str, spark: "SparkSession | None") -> Iterator[str]:
    _make_topics(case, servers)
    steps = [list(group) for _, group in itertools.groupby(case.inputs(), lambda r: r.step)]
    with tempfile.TemporaryDirectory(prefix="barnabas-case-") as place:
        if case.sql is None:
            _run_topology(case, steps, servers, place, spark)
            yield from _compared(case, servers, {})
            return
        with Engine(
            {"bootstrap.servers": servers}, state_dir=place, spark=spark, run_queries=False
        ) as engine:
            engine.properties[OFFSET_RESET] = "earliest"
            yield from _run_sql(case, steps, servers, engine)


def _run_sql(
    case: Case, steps: list[list[InputRecord]], servers: str, engine: Engine
) -> Iterator[str]:
    assert case.sql is not None
    statements = parse_statements(case.sql)
    last = statements[-1] if statements and isinstance(statements[-1], Select) else None
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


def _rows(engine: Engine, statement: Select) -> list[dict[str, Any]]:
    if statement.query.emit is not None:
        return [dict(row) for row in engine.push_to_end(statement.query, RUN_SECONDS).rows]
    result = engine.execute(statement)
    assert isinstance(result, Table | Streamed)
    return [dict(row) for row in result.rows]


def _run_topology(
    case: Case,
    steps: list[list[InputRecord]],
    servers: str,
    place: str,
    spark: "SparkSession | None",
) -> None:
    """case.py defines `topology()`; the name of a topic is what it is in the files."""
    from barnabas.streams.run import Runner

    made = runpy.run_path(str(case.path / PYTHON)).get("topology")
    if made is None:
        raise ConfigError(f"{case.path / PYTHON}: no function topology()")
    runner = Runner(made(), bootstrap_servers=servers, checkpoint=place, spark=spark)
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
            # Times in cases are small numbers; retention would take such records away.
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
    """All committed records of a topic, partition by partition."""
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
    """A Spark session for many cases."""
    from barnabas.streams.sql.engine.session import LazySparkSession

    place = Path(tempfile.mkdtemp(prefix="barnabas-cases-"))
    lazy_session = LazySparkSession(log_file=place / "spark.log", short_life=True)
    try:
        yield lazy_session.session
    finally:
        lazy_session.close()
