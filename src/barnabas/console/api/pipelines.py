"""Routes of pipelines, SQL and dead letters."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import StreamingResponse

from barnabas.console.api.routing import (
    ERRORS,
    ClusterRoute,
    ConsoleDep,
    ListQueryDep,
    LocalReader,
    Operator,
    Reader,
    audit,
    event_stream,
)
from barnabas.console.models.common import ListPage
from barnabas.console.models.pipelines import (
    DeadLetterTopic,
    LetterGroups,
    LetterPage,
    LetterQuery,
    PipelineDetail,
    PipelineSummary,
    ResendBody,
    SqlBody,
    SqlDefinitions,
    SqlResultBody,
)

router = APIRouter(tags=["pipelines"], responses=ERRORS, route_class=ClusterRoute)


@router.get("/pipelines", dependencies=[LocalReader])
async def list_pipelines(console: ConsoleDep, query: ListQueryDep) -> ListPage[PipelineSummary]:
    """Pipelines that ran on the console's machine, with the figures of the last micro-batch."""
    return await console.pipelines.list_pipelines(query)


@router.get("/pipelines/{name}", dependencies=[LocalReader])
async def describe_pipeline(console: ConsoleDep, name: str) -> PipelineDetail:
    """A pipeline with its topology and the phases of the last micro-batch."""
    return await console.pipelines.describe(name)


@router.get("/sql/definitions", dependencies=[Reader])
async def list_definitions(console: ConsoleDep) -> SqlDefinitions:
    """Streams, tables and queries that `barnabas sql` has defined."""
    return await console.sql_definitions.read()


@router.post("/sql", dependencies=[Reader])
async def run_statement(console: ConsoleDep, body: SqlBody) -> SqlResultBody:
    """Runs a bounded SQL statement on Spark and returns its rows."""
    return await console.sql.run(body)


dead_letter_router = APIRouter(
    prefix="/dead-letters", tags=["dead letters"], responses=ERRORS, route_class=ClusterRoute
)
Topic = Annotated[str, Path(min_length=1, max_length=249)]


@dead_letter_router.get("", dependencies=[Reader])
async def list_dead_letter_topics(console: ConsoleDep) -> list[DeadLetterTopic]:
    """Topics whose names end like those of dead letters, such as orders.dlq."""
    return await console.dead_letters.topics()


@dead_letter_router.get("/{topic}/groups", dependencies=[Reader])
async def group_dead_letters(console: ConsoleDep, topic: Topic) -> LetterGroups:
    """The newest letters of a topic by source topic and reason."""
    return await console.dead_letters.groups(topic)


@dead_letter_router.get("/{topic}/letters", dependencies=[Reader])
async def list_dead_letters(
    console: ConsoleDep, topic: Topic, query: Annotated[LetterQuery, Query()]
) -> LetterPage:
    """The newest letters, and which of them were sent back."""
    return await console.dead_letters.letters(topic, query)


@dead_letter_router.post("/{topic}/resend", dependencies=[Operator])
async def resend_dead_letters(
    console: ConsoleDep, topic: Topic, body: ResendBody, request: Request
) -> StreamingResponse:
    """Sends letters back to their topics, each exactly once, at a limited rate.

    Server-sent events report the progress; closing the connection stops after the current letter.
    """
    audit(request, topic=topic, letters=len(body.letters), target=body.target)
    return event_stream(await console.dead_letters.resend(topic, body))
