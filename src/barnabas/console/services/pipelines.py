"""Pipelines of the console's machine, and SQL: runs one bounded statement, lists what is defined.

A running pipeline writes its status to a file after each micro-batch; `barnabas pipeline list`
reads the same files. So the console needs no connection to Spark. The topology is read from the
YAML file of the pipeline; a Python file is not executed for this, so its topology is not shown.

A SQL statement runs as `barnabas sql --format json`: Spark needs a JVM and some hundred megabytes,
which the console must not hold. Statements that change something, and queries without an end, are
rejected before a process is started. One statement runs at a time; the process ends with the
request. The connection settings are passed in a file that only this user can read, because other
users of the machine can see command lines.

Definitions are read from the topic in which `barnabas sql` stores its statements, without Spark.
The key of a record is the id of a statement or of its end, the value a JSON document; null takes a
statement back. If two statements define the same name, the earlier one is in effect unless the
later one replaces it.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from barnabas.console.models.common import ListPage, ListQuery, select_page
from barnabas.console.models.pipelines import (
    PhaseBody,
    PipelineDetail,
    PipelineSummary,
    SqlBody,
    SqlDefinitions,
    SqlQueryItem,
    SqlRelationItem,
    SqlResultBody,
    TopologyBody,
    TopologyNodeBody,
)
from barnabas.console.services.records.partition_reader import PartitionReader
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, DeadlineError, LocalError
from barnabas.spark.pipeline import (
    FormatSink,
    Pipeline,
    Sink,
    Source,
    Step,
    TableSink,
    TopicSink,
)
from barnabas.spark.pipeline_files import load
from barnabas.spark.pipeline_registry import PipelineRegistry

TIMEOUT_S = 120.0
_READS = frozenset({"SELECT", "WITH", "SHOW", "LIST", "DESCRIBE", "EXPLAIN"})
_MAX_OUTPUT = 64 << 20
_LABEL_CHARS = 80


class SqlService:
    """Starts and ends the child process."""

    def __init__(self, settings: Mapping[str, str], timeout_s: float = TIMEOUT_S) -> None:
        self._settings = settings
        self._timeout_s = timeout_s
        self._busy = False

    async def run(self, body: SqlBody) -> SqlResultBody:
        """Returns the rows of a statement.

        Raises:
            LocalError: The statement is not bounded, is wrong, or another one is running.
            DeadlineError: The statement takes too long; it was ended.
        """
        check_bounded(body.statement)
        if self._busy:
            raise LocalError("another statement is running; try again when it has ended")
        self._busy = True
        started = time.monotonic()
        try:
            output = await self._execute(body.statement)
        finally:
            self._busy = False
        return result_of(output, body.limit, time.monotonic() - started)

    async def _execute(self, statement: str) -> bytes:
        with tempfile.TemporaryDirectory(prefix="barnabas-console-") as directory:
            config = Path(directory) / "client.properties"
            config.touch(mode=0o600)
            config.write_text(properties_text(self._settings), encoding="utf-8")
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "barnabas.cli.main", "sql", "--format", "json", "--no-queries"),
                *("--command-config", str(config), "-e", statement),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                async with asyncio.timeout(self._timeout_s):
                    output, errors = await process.communicate()
            except TimeoutError:
                raise DeadlineError(
                    f"the statement did not end within {self._timeout_s:g} s"
                ) from None
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
        if process.returncode != 0:
            raise LocalError(_error_text(errors))
        return output


def check_bounded(statement: str) -> None:
    """Raises LocalError for a statement that changes something or has no end."""
    words = statement.split(None, 1)
    first = words[0].upper().rstrip(";") if words else ""
    if first not in _READS:
        allowed = ", ".join(sorted(_READS))
        raise LocalError(
            f"the console runs only {allowed}; run other statements with `barnabas sql`"
        )
    normal = " ".join(statement.upper().split())
    if "EMIT CHANGES" in normal:
        raise LocalError(
            "EMIT CHANGES has no end: leave it out to read the existing rows, or use `barnabas sql`"
        )
    if ";" in statement.strip().rstrip(";"):
        raise LocalError("one statement at a time")


def properties_text(settings: Mapping[str, str]) -> str:
    """Returns the settings as a properties file."""
    return "".join(f"{key}={_escaped(str(value))}\n" for key, value in settings.items())


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


def result_of(output: bytes, limit: int, seconds: float) -> SqlResultBody:
    """Returns the rows of the JSON that `barnabas sql` prints: a list, or an object per line."""
    if len(output) > _MAX_OUTPUT:
        raise LocalError("the result has more than 64 MiB: select fewer rows or columns")
    values = _values(output.decode("utf-8", "replace"))
    message = None
    rows: list[dict[str, object]] = []
    for value in values:
        if set(value) == {"message", "query"}:
            message = str(value["message"])
        else:
            rows.append(value)
    columns = list(dict.fromkeys(key for row in rows[:limit] for key in row))
    return SqlResultBody(
        columns=columns,
        rows=rows[:limit],
        truncated=len(rows) > limit,
        seconds=round(seconds, 3),
        message=message,
    )


def _values(text: str) -> list[dict[str, object]]:
    decoder = json.JSONDecoder()
    found: list[dict[str, Any]] = []
    position = 0
    text = text.strip()
    while position < len(text):
        value, position = decoder.raw_decode(text, position)
        found += value if isinstance(value, list) else [value]
        while position < len(text) and text[position].isspace():
            position += 1
    return found


def _error_text(errors: bytes) -> str:
    lines = [line for line in errors.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].removeprefix("barnabas sql: ") if lines else "the statement failed"


TOPIC = "_barnabas_sql_statements"
_STATEMENT, _TERMINATE, _CLAIM = "s-", "terminate-", "home-"


class SqlDefinitionService:
    def __init__(self, reader: PartitionReader) -> None:
        self._reader = reader

    async def read(self) -> SqlDefinitions:
        """Returns the current definitions; none if `barnabas sql` was never used."""
        log = StatementReader()
        try:
            (bounds,) = await self._reader.bounds(TOPIC, [0])
        except BrokerError as error:
            if error.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                raise
            return log.definitions()
        async for entries, _ in self._reader.read_range(TOPIC, 0, bounds.start, bounds.end):
            for entry in entries:
                if entry.key is not None and entry.control is None:
                    log.read(entry.key.decode("utf-8", "replace"), entry.value, entry.offset)
        return log.definitions()


class StatementReader:
    """Applies the records of the topic in order; has no IO."""

    def __init__(self) -> None:
        self._statements: dict[str, tuple[Mapping[str, Any], int]] = {}
        self._owners: dict[str, str] = {}
        self._ended: set[str] = set()
        self._locations: dict[str, str] = {}

    def read(self, key: str, value: bytes | None, offset: int) -> None:
        if value is None:
            self._take_back(key)
            return
        try:
            document = json.loads(value)
        except ValueError:
            return  # not written by `barnabas sql`
        if key.startswith(_TERMINATE):
            self._ended.add(key.removeprefix(_TERMINATE))
        elif key.startswith(_CLAIM):
            statement = key.removeprefix(_CLAIM).partition("/")[0]
            self._locations.setdefault(statement, str(document.get("where", "")))
        elif key.startswith(_STATEMENT):
            self._define(key, document, offset)

    def _define(self, key: str, document: Mapping[str, Any], offset: int) -> None:
        relation = document.get("relation")
        if relation is not None:
            name = str(relation["name"]).lower()
            owner = self._owners.get(name)
            if owner is not None and owner not in (key, document.get("replaces")):
                return
            if owner is not None and owner != key:
                self._statements.pop(owner, None)
            self._owners[name] = key
        self._statements[key] = (document, offset)

    def _take_back(self, key: str) -> None:
        self._ended.discard(key.removeprefix(_TERMINATE))
        self._statements.pop(key, None)
        self._owners = {name: owner for name, owner in self._owners.items() if owner != key}

    def definitions(self) -> SqlDefinitions:
        found = SqlDefinitions(relations=[], queries=[])
        for key, (document, offset) in self._statements.items():
            relation, query = document.get("relation"), document.get("query")
            if relation is not None:
                found.relations.append(_relation(relation, document))
            if query is not None and key not in self._ended:
                target = str(query["target"])
                found.queries.append(
                    SqlQueryItem(
                        query_id=f"{query['kind']}_{target.upper()}_{offset}",
                        target=target,
                        sources=[str(name) for name in query["sources"]],
                        statement=str(document["statement"]),
                        runs_at=self._locations.get(key),
                    )
                )
        found.relations.sort(key=lambda item: item.name)
        return found


def _relation(relation: Mapping[str, object], document: Mapping[str, object]) -> SqlRelationItem:
    return SqlRelationItem(
        name=str(relation["name"]),
        kind=str(relation["kind"]).lower(),
        topic=str(relation["topic"]),
        statement=str(document["statement"]),
    )


class PipelineService:
    """Reads status files; the files are small, and are read in a thread."""

    def __init__(self, directory: Path | None = None) -> None:
        self._registry = PipelineRegistry(directory)

    async def list_pipelines(self, query: ListQuery) -> ListPage[PipelineSummary]:
        documents = await asyncio.to_thread(self._registry.read_all)
        text = query.search.lower()
        rows = [
            summary_of(document)
            for document in documents
            if text in str(document.get("name", "")).lower()
        ]
        return select_page(rows, query, "name")

    async def describe(self, name: str) -> PipelineDetail:
        """Returns one pipeline; LocalError if it has not run here."""
        return await asyncio.to_thread(self._describe, name)

    def _describe(self, name: str) -> PipelineDetail:
        if not name or name.startswith(".") or any(sign in name for sign in "/\0"):
            raise LocalError(f"no pipeline {name!r} has run here")
        document = self._registry.read(name)
        file = document.get("file")
        phases = document.get("phases")
        return PipelineDetail(
            summary=summary_of(document),
            file=file,
            checkpoint=document.get("checkpoint"),
            phases=[
                PhaseBody(name=str(phase), milliseconds=int(number))
                for phase, number in (phases if isinstance(phases, dict) else {}).items()
            ],
            state_bytes=document.get("state_bytes"),
            topology=_topology_of_file(file),
        )


def summary_of(document: Mapping[str, object]) -> PipelineSummary:
    """Returns the fields of a status file that a summary has."""
    known = {key: document.get(key) for key in PipelineSummary.model_fields}
    return PipelineSummary.model_validate(known)


def _topology_of_file(file: str | None) -> TopologyBody | None:
    if file is None or Path(file).suffix not in (".yaml", ".yml"):
        return None
    try:
        return topology_of(load(Path(file)).pipeline)
    except BarnabasError:
        return None  # the file was changed or deleted after the start


def topology_of(pipeline: Pipeline) -> TopologyBody:
    """Returns sources, steps and sinks in the order in which rows pass them."""
    sources = _source_nodes(pipeline.source)
    nodes = list(sources)
    edges: list[tuple[str, str]] = []
    before = [node.id for node in sources]
    for number, step in enumerate(pipeline.steps):
        node = TopologyNodeBody(id=f"step-{number}", label=step_label(step), kind="step")
        nodes.append(node)
        edges += [(item, node.id) for item in before]
        before = [node.id]
    sink = _sink_node(pipeline.sink)
    nodes.append(sink)
    edges += [(item, sink.id) for item in before]
    if pipeline.dead_letters is not None:
        for source in sources:
            topic = pipeline.dead_letters.topic or f"{source.topic}.dlq"
            node = _topic_node(f"dead-{source.id}", topic, f"dead letters: {topic}")
            nodes.append(node)
            edges.append((source.id, node.id))
    return TopologyBody(nodes=nodes, edges=edges)


def step_label(step: Step) -> str:
    """Returns the kind of a step and the start of its text.

    >>> from barnabas.spark.pipeline import Where
    >>> step_label(Where("amount > 0"))
    'Where: amount > 0'
    """
    values = [getattr(step, name) for name in step.__slots__]
    text = ", ".join(" ".join(str(value).split()) for value in values)
    label = f"{type(step).__name__}: {text}"
    return label if len(label) <= _LABEL_CHARS else label[: _LABEL_CHARS - 1] + "…"


def _source_nodes(source: Source) -> list[TopologyNodeBody]:
    if source.pattern is not None:
        return [
            TopologyNodeBody(id="source-0", label=f"topics like {source.pattern}", kind="topic")
        ]
    return [
        _topic_node(f"source-{number}", topic, topic) for number, topic in enumerate(source.topics)
    ]


def _topic_node(identifier: str, topic: str, label: str) -> TopologyNodeBody:
    return TopologyNodeBody(id=identifier, label=label, kind="topic", topic=topic)


def _sink_node(sink: Sink) -> TopologyNodeBody:
    match sink:
        case TopicSink():
            return _topic_node("sink", sink.topic, sink.topic)
        case TableSink():
            return TopologyNodeBody(id="sink", label=f"table {sink.table}", kind="table")
        case FormatSink():
            return TopologyNodeBody(id="sink", label=f"format {sink.format}", kind="format")
