"""Server-sent events: a stream of JSON values over one HTTP response.

A comment line is sent when there was no event for a while, so that proxies keep the connection and
a closed connection is noticed. An error of the cluster is sent as an `error` event and ends the
stream; the client connects again.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from barnabas.console.api.errors import code_of
from barnabas.console.models.common import ErrorBody
from barnabas.model.errors import BarnabasError

_KEEP_ALIVE_S = 15.0
EVENT_STREAM = "text/event-stream"


def event_stream(events: AsyncIterator[BaseModel]) -> StreamingResponse:
    """Returns a response that sends each value as one event, until the iterator ends."""
    return StreamingResponse(
        _lines(events), media_type=EVENT_STREAM, headers={"cache-control": "no-store"}
    )


async def _lines(events: AsyncIterator[BaseModel]) -> AsyncIterator[str]:
    pending = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            done, _ = await asyncio.wait([pending], timeout=_KEEP_ALIVE_S)
            if not done:
                yield ": keep-alive\n\n"
                continue
            value = pending.result()
            if value is None:
                yield "event: end\ndata: {}\n\n"
                return
            yield f"data: {value.model_dump_json()}\n\n"
            pending = asyncio.ensure_future(anext(events, None))
    except BarnabasError as error:
        body = ErrorBody(code=code_of(error), message=str(error), cause=None)
        yield f"event: error\ndata: {body.model_dump_json()}\n\n"
    finally:
        pending.cancel()
        with suppress(asyncio.CancelledError, BarnabasError, StopAsyncIteration):
            await pending
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()
