"""mypy verifies a user's program: types of keys and values, and configuration keywords."""

import textwrap
from pathlib import Path

import pytest

from barnabas import Consumer, Record, aio

api = pytest.importorskip("mypy.api")

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]

GOOD = """
    import barnabas
    from barnabas import Admin, Consumer, Producer, Record, aio

    consumer: Consumer[str, dict[str, int]] = Consumer(
        {"bootstrap.servers": "localhost:9092"},
        group_id="g",
        max_poll_records=10,
        enable_auto_commit=False,
        value_deserializer="json",
    )
    for record in consumer:
        key: str = record.key
        total: int = record.value["total"]
    for records in consumer.poll(1.0).values():
        first: Record[str, dict[str, int]] = records[0]

    def handle(record: Record[str, dict[str, int]]) -> None: ...

    consumer.process(handle)

    plain = Consumer(bootstrap_servers=["a:9092", "b:9092"])
    for found in plain:
        anything: bytes = found.value

    def run(plain: Consumer, record: Record) -> None: ...

    run(consumer, first)

    producer = Producer(bootstrap_servers="localhost:9092", linger_ms=5, acks="all")
    admin = Admin(bootstrap_servers="localhost:9092", request_timeout_ms=1000)
    simple = barnabas.SimpleConsumer(bootstrap_servers="localhost:9092", fetch_max_wait_ms=10)

    async def main() -> None:
        other: aio.Consumer[str, float] = aio.Consumer(group_id="g", auto_offset_reset="earliest")
        async for record in other:
            price: float = record.value
        aio.Producer(linger_ms=5, compression_type="zstd")
        aio.Admin(bootstrap_servers="localhost:9092")
"""

WRONG = {
    'Consumer(grup_id="g")': "grup_id",
    'Consumer(max_poll_records="many")': "max_poll_records",
    "Producer(lingerms=5)": "lingerms",
    'Producer(enable_idempotence="no")': "enable_idempotence",
    "Admin(linger_ms=5)": "linger_ms",
    "SimpleConsumer(group_id='g')": "group_id",
    "aio.Consumer(group_ids='g')": "group_ids",
    "aio.Producer(topic='t')": "topic",
    "aio.Admin(server='s')": "server",
    "ConsumerConnector(zookeper_connect='s')": "zookeper_connect",
}

TYPES = """
    from barnabas import Consumer

    consumer: Consumer[str, int] = Consumer(group_id="g")
    for record in consumer:
        text: str = record.value  # error: int
"""


def check(tmp_path, text):
    """Returns mypy's report on a program; uses the project's cache, which makes it fast."""
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(text))
    config = str(ROOT / "pyproject.toml")
    cache = str(ROOT / ".mypy_cache")
    report, errors, _ = api.run(["--config-file", config, "--cache-dir", cache, str(program)])
    assert not errors
    return report


@pytest.fixture(autouse=True)
def in_root(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_a_correct_program_passes(tmp_path):
    assert check(tmp_path, GOOD).startswith("Success")


def test_wrong_keywords_are_found(tmp_path):
    names = "Admin, Consumer, ConsumerConnector, Producer, SimpleConsumer, aio"
    report = check(tmp_path, "\n".join([f"from barnabas import {names}", *WRONG]))
    lines = [line for line in report.splitlines() if ": error: " in line]
    for number, (call, keyword) in enumerate(WRONG.items(), 2):
        found = [line for line in lines if line.startswith(f"{tmp_path}/program.py:{number}:")]
        assert len(found) == 1, (call, report)
        assert f'"{keyword}"' in found[0]
    assert len(lines) == len(WRONG)


def test_the_type_of_a_value_is_verified(tmp_path):
    report = check(tmp_path, TYPES)
    assert 'expression has type "int", variable has type "str"' in report


def test_the_classes_can_be_subscripted_at_runtime():
    assert Consumer[str, int].__args__ == (str, int)
    assert aio.Consumer[str, int].__args__ == (str, int)
    assert Record[str, int].__origin__ is Record
