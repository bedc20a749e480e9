"""Routes of the overview."""

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from barnabas.console.api.dependencies import ERRORS, ConsoleDep, Reader
from barnabas.console.api.sse import EVENT_STREAM, event_stream
from barnabas.console.models.overview import Overview, RateHistory

router = APIRouter(prefix="/overview", tags=["overview"], responses=ERRORS)


@router.get("", dependencies=[Reader])
async def describe_overview(console: ConsoleDep) -> Overview:
    """Brokers, disks, partitions and current problems."""
    return await console.overview.describe()


@router.get("/rates", dependencies=[Reader])
async def list_rates(console: ConsoleDep) -> RateHistory:
    """Rates of the last minutes, while they were sampled."""
    console.rates.touch()
    return RateHistory(points=list(console.rates.points))


@router.get(
    "/rates/live",
    dependencies=[Reader],
    response_class=StreamingResponse,
    responses={200: {"content": {EVENT_STREAM: {}}, "description": "RatePoint events"}},
)
async def follow_rates(console: ConsoleDep) -> StreamingResponse:
    """Rates as server-sent events, every two seconds."""
    return event_stream(console.rates.follow())
