"""Routes of records: browse, search, tail, download, produce."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from barnabas.console.api.routing import (
    ERRORS,
    ApiError,
    ClusterRoute,
    ConsoleDep,
    Operator,
    Reader,
    audit,
    event_stream,
)
from barnabas.console.models.common import INT64_MAX
from barnabas.console.models.records import (
    BrowseQuery,
    DownloadQuery,
    FormatQuery,
    ImportedBody,
    ProduceBody,
    ProducedBody,
    RecordDetail,
    RecordPage,
    SearchQuery,
    TailQuery,
)
from barnabas.console.services.records.service import RecordNotFoundError
from barnabas.console.services.records.transfer import MEDIA_TYPES, ImportFormat, writer_of

router = APIRouter(
    prefix="/topics/{topic}", tags=["records"], responses=ERRORS, route_class=ClusterRoute
)

Topic = Annotated[str, Path(min_length=1, max_length=249)]
Partition = Annotated[int, Path(ge=0, le=2**31 - 1)]
RecordOffset = Annotated[int, Path(ge=0, le=INT64_MAX)]


@router.get("/records", dependencies=[Reader])
async def browse_records(
    console: ConsoleDep, topic: Topic, query: Annotated[BrowseQuery, Query()]
) -> RecordPage:
    """One page of records in order of time, with cursors to the pages beside it."""
    return await console.records.browse(topic, query)


@router.get("/records/search", dependencies=[Reader])
async def search_records(
    console: ConsoleDep, topic: Topic, query: Annotated[SearchQuery, Query()]
) -> StreamingResponse:
    """Server-sent events with matches and progress; closing the connection cancels the search."""
    return event_stream(await console.records.search(topic, query))


@router.get("/records/tail", dependencies=[Reader])
async def tail_records(
    console: ConsoleDep, topic: Topic, query: Annotated[TailQuery, Query()]
) -> StreamingResponse:
    """Server-sent events with the records that are written from now on."""
    return event_stream(await console.records.tail(topic, query))


@router.get("/records/download", dependencies=[Reader])
async def download_records(
    console: ConsoleDep, topic: Topic, query: Annotated[DownloadQuery, Query()]
) -> StreamingResponse:
    """The records that match, or all, as a file."""
    write = writer_of(query.file_format)
    chunks = await console.records.matches(topic, query)
    return StreamingResponse(
        write(chunks),
        media_type=MEDIA_TYPES[query.file_format],
        headers=_attachment(f"{topic}.{query.file_format}"),
    )


@router.get("/partitions/{partition}/records/{offset}", dependencies=[Reader])
async def get_record(
    console: ConsoleDep,
    topic: Topic,
    partition: Partition,
    offset: RecordOffset,
    query: Annotated[FormatQuery, Query()],
) -> RecordDetail:
    """One record. Its text is cut after 64 KiB; `raw_value` has all bytes up to 1 MiB."""
    try:
        return await console.records.record(topic, partition, offset, query)
    except RecordNotFoundError as error:
        raise ApiError(404, "RECORD_NOT_FOUND", str(error)) from None


@router.get("/partitions/{partition}/records/{offset}/value", dependencies=[Reader])
async def get_value(
    console: ConsoleDep, topic: Topic, partition: Partition, offset: RecordOffset
) -> Response:
    """The bytes of one record's value, as a file."""
    try:
        entry = await console.records.entry(topic, partition, offset)
    except RecordNotFoundError as error:
        raise ApiError(404, "RECORD_NOT_FOUND", str(error)) from None
    name = f"{topic}-{partition}-{offset}.bin"
    return Response(entry.value or b"", 200, _attachment(name), "application/octet-stream")


@router.post("/records", status_code=201, dependencies=[Operator])
async def produce_records(
    console: ConsoleDep, topic: Topic, body: ProduceBody, request: Request
) -> ProducedBody:
    """Writes records and returns their offsets."""
    audit(request, topic=topic, records=len(body.records))
    return await console.records.produce(topic, body)


@router.post("/records/import", status_code=201, dependencies=[Operator])
async def import_records(
    console: ConsoleDep, topic: Topic, request: Request, file_format: ImportFormat = "jsonl"
) -> ImportedBody:
    """Writes each line of the request body as a record: JSON documents, or plain values."""
    audit(request, topic=topic)
    found = await console.records.import_file(topic, request.stream(), file_format)
    audit(request, records=found.records)
    return found


def _attachment(name: str) -> dict[str, str]:
    return {"content-disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
