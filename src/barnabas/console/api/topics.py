"""Routes of topics."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from barnabas.admin import ConfigResource
from barnabas.console.api.routing import (
    ERRORS,
    Administrator,
    ClusterRoute,
    ConsoleDep,
    ListQueryDep,
    Operator,
    Reader,
    audit,
)
from barnabas.console.models.common import ListPage
from barnabas.console.models.topics import (
    ConfigChanges,
    ConfigItem,
    CreatedTopicBody,
    DeletedRecords,
    NewPartitionsBody,
    NewTopicBody,
    PartitionDetail,
    RecordDeletion,
    RecordHistogram,
    TopicDetail,
    TopicSummary,
)
from barnabas.console.services.rates import MAX_BUCKETS

router = APIRouter(prefix="/topics", tags=["topics"], responses=ERRORS, route_class=ClusterRoute)
TopicName = Annotated[str, Path(min_length=1, max_length=249)]
TimeMs = Annotated[int | None, Query(ge=0, le=2**53)]


@router.get("", dependencies=[Reader])
async def list_topics(
    console: ConsoleDep, query: ListQueryDep, internal: bool = False
) -> ListPage[TopicSummary]:
    """Topics with their size, rate, groups and lag, one page at a time."""
    return await console.topics.list_topics(query, internal=internal)


@router.post("", status_code=201, dependencies=[Operator])
async def create_topic(
    console: ConsoleDep, body: NewTopicBody, request: Request
) -> CreatedTopicBody:
    """Creates a topic."""
    audit(request, topic=body.name)
    return await console.topics.create(body)


@router.get("/{name}", dependencies=[Reader])
async def describe_topic(console: ConsoleDep, name: TopicName) -> TopicDetail:
    """One topic."""
    return await console.topics.describe(name)


@router.delete("/{name}", status_code=204, dependencies=[Administrator])
async def delete_topic(console: ConsoleDep, name: TopicName) -> None:
    """Deletes a topic with all its records."""
    await console.topics.delete(name)


@router.get("/{name}/partitions", dependencies=[Reader])
async def list_partitions(
    console: ConsoleDep, name: TopicName, query: ListQueryDep
) -> ListPage[PartitionDetail]:
    """Partitions with replicas, offsets and the positions of groups; in order of their index."""
    return await console.topics.list_partitions(name, query)


@router.post("/{name}/partitions", status_code=204, dependencies=[Operator])
async def add_partitions(
    console: ConsoleDep, name: TopicName, body: NewPartitionsBody, request: Request
) -> None:
    """Increases the number of partitions."""
    audit(request, total=body.total)
    await console.topics.add_partitions(name, body.total)


@router.get("/{name}/configs", dependencies=[Reader])
async def describe_topic_configs(console: ConsoleDep, name: TopicName) -> list[ConfigItem]:
    """The configuration of a topic with the default of each key."""
    return await console.configs.describe(ConfigResource.topic(name))


@router.patch("/{name}/configs", status_code=204, dependencies=[Operator])
async def alter_topic_configs(
    console: ConsoleDep, name: TopicName, body: ConfigChanges, request: Request
) -> None:
    """Sets values, and resets keys to their default."""
    audit(request, keys=sorted({*body.values, *body.reset}))
    await console.configs.alter(ConfigResource.topic(name), body)


@router.post("/{name}/delete-records", dependencies=[Administrator])
async def delete_records(
    console: ConsoleDep, name: TopicName, body: RecordDeletion, request: Request
) -> DeletedRecords:
    """Deletes records before an offset of each partition; without offsets, all records."""
    audit(request, offsets=body.offsets or "all")
    return await console.topics.delete_records(name, body)


@router.get("/{name}/histogram", dependencies=[Reader])
async def count_records(
    console: ConsoleDep,
    name: TopicName,
    buckets: Annotated[int, Query(ge=1, le=MAX_BUCKETS)] = 60,
    start_ms: TimeMs = None,
    end_ms: TimeMs = None,
) -> RecordHistogram:
    """Records over time, counted by offsets."""
    return await console.histograms.histogram(name, buckets, start_ms, end_ms)
