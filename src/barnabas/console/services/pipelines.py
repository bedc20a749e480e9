"""Pipelines of the console's machine: their status and topology.

A running pipeline writes its status to a file after each micro-batch; `barnabas pipeline list`
reads the same files. So the console needs no connection to Spark. The topology is read from the
YAML file of the pipeline; a Python file is not executed for this, so its topology is not shown.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from barnabas.console.models.common import ListPage, ListQuery, select_page
from barnabas.console.models.pipelines import (
    PhaseBody,
    PipelineDetail,
    PipelineSummary,
    TopologyBody,
    TopologyNodeBody,
)
from barnabas.model.errors import BarnabasError, LocalError
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

_LABEL_CHARS = 80


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
