"""Routes of pipelines and SQL."""

from fastapi import APIRouter

from barnabas.console.api.dependencies import ERRORS, ConsoleDep, ListQueryDep, LocalReader, Reader
from barnabas.console.models.common import ListPage
from barnabas.console.models.pipelines import (
    PipelineDetail,
    PipelineSummary,
    SqlBody,
    SqlDefinitions,
    SqlResultBody,
)

router = APIRouter(tags=["pipelines"], responses=ERRORS)


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
