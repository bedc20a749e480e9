"""The in-process client of the API: streams, errors, and the end of a stream that is not read."""

import asyncio

import pytest
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from barnabas.console.api.routing import UnexpectedErrors, add_error_handlers, event_stream
from barnabas.console.api_client import ApiCallError, ApiClient
from barnabas.console.security.guard import PRINCIPAL
from barnabas.console.security.identity import ConsoleUser, Role
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, UnavailableError


class Count(BaseModel):
    number: int


def app():
    api = FastAPI()
    api.add_middleware(UnexpectedErrors)
    add_error_handlers(api)
    api.state.begun = asyncio.Event()
    api.state.ended = asyncio.Event()

    async def count(fails):
        try:
            for number in range(3):
                yield Count(number=number)
            if fails:
                raise UnavailableError("broker 1 does not respond")
            await asyncio.Event().wait()
        finally:
            api.state.ended.set()

    @api.get("/api/v1/counts")
    async def counts(fails: bool = False) -> StreamingResponse:
        return event_stream(count(fails))

    @api.get("/api/v1/broker-error")
    async def broker_error() -> None:
        raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "no topic orders")

    @api.get("/api/v1/defect")
    async def defect() -> None:
        raise RuntimeError("secret detail")

    @api.get("/api/v1/slow")
    async def slow() -> None:
        api.state.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            api.state.ended.set()

    @api.get("/api/v1/user")
    async def user(request: __import__("fastapi").Request) -> str:
        return request.scope[PRINCIPAL].name

    return api


def client(api):
    return ApiClient(api, lambda: ConsoleUser("ada", Role.READ))


async def test_events_arrive_before_the_stream_ends_and_leaving_it_ends_the_source():
    api = app()
    events = client(api).events("/counts")
    seen = [(await anext(events))["number"] for _ in range(3)]
    await events.aclose()
    assert seen == [0, 1, 2]
    await asyncio.wait_for(api.state.ended.wait(), 5)


async def test_an_error_in_a_stream_is_raised():
    events = client(app()).events("/counts", query={"fails": True})
    with pytest.raises(ApiCallError, match="broker 1 does not respond"):
        _ = [item async for item in events]


async def test_an_error_of_the_cluster_keeps_its_code():
    with pytest.raises(ApiCallError) as caught:
        await client(app()).get("/broker-error")
    assert (caught.value.status, caught.value.code) == (404, "UNKNOWN_TOPIC_OR_PARTITION")


async def test_a_defect_shows_no_details():
    with pytest.raises(ApiCallError) as caught:
        await client(app()).get("/defect")
    assert (caught.value.status, caught.value.code) == (500, "INTERNAL_ERROR")
    assert "secret" not in caught.value.message


async def test_the_identity_of_the_user_is_passed_on():
    assert await client(app()).get("/user") == "ada"


async def test_a_cancelled_call_ends_the_request():
    """A page that is closed while it waits must not leave a request behind."""
    api = app()
    call = asyncio.create_task(client(api).get("/slow"))
    await asyncio.wait_for(api.state.begun.wait(), 5)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await asyncio.wait_for(api.state.ended.wait(), 5)


async def test_a_task_that_is_cancelled_while_it_closes_a_stream_ends():
    """Otherwise the page of that task would open its stream again while the console stops."""
    closing, finish = asyncio.Event(), asyncio.Event()

    async def slow_to_end(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True})
        try:
            await asyncio.Event().wait()
        finally:
            closing.set()
            await finish.wait()

    async def read_one():
        async for _ in client(slow_to_end).events("/counts"):
            break
        async with client(slow_to_end).stream("GET", "/counts"):
            pass

    reading = asyncio.create_task(read_one())
    await asyncio.wait_for(closing.wait(), 5)
    reading.cancel()
    finish.set()
    done, _ = await asyncio.wait({reading}, timeout=5)
    assert done
    assert reading.cancelled()
