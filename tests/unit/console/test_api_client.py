"""The in-process client of the API: streams, errors, and the end of a stream that is not read."""

import asyncio

import pytest
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from barnabas.console.api.errors import UnexpectedErrors, add_error_handlers
from barnabas.console.api.routing import event_stream
from barnabas.console.api_client import ApiCallError, ApiClient
from barnabas.console.security.guard import PRINCIPAL
from barnabas.console.security.identity import Principal, Role
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, UnavailableError


class Count(BaseModel):
    number: int


def app():
    api = FastAPI()
    api.add_middleware(UnexpectedErrors)
    add_error_handlers(api)
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

    @api.get("/api/v1/user")
    async def user(request: __import__("fastapi").Request) -> str:
        return request.scope[PRINCIPAL].name

    return api


def client(api):
    return ApiClient(api, lambda: Principal("ada", Role.READ))


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
