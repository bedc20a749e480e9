"""A topic that a client creates again while it is deleted does not hold up the deletion."""

import asyncio

import pytest

from barnabas.aio import Admin, Producer

pytestmark = pytest.mark.integration

ANSWER_SECONDS = 45.0  # below the request's own limit of 60 s


async def test_delete_is_answered_although_a_producer_creates_the_topic_again(start):
    """Passes when the deletion succeeds before its timeout."""
    broker = await start()
    config = {"bootstrap.servers": f"127.0.0.1:{broker.port}"}

    async def produce_for_ever():
        while True:
            async with Producer(config) as producer:
                await (await producer.send("t", b"x"))

    async with Admin(config) as admin:
        await admin.create_topic("t")
        clients = [asyncio.create_task(produce_for_ever()) for _ in range(4)]
        try:
            for _ in range(5):
                async with asyncio.timeout(ANSWER_SECONDS):
                    await admin.delete_topics(["t"])
                async with asyncio.timeout(ANSWER_SECONDS):  # a client creates it again
                    while "t" not in {listing.name for listing in await admin.list_topics()}:
                        await asyncio.sleep(0.01)
        finally:
            for client in clients:
                client.cancel()
            await asyncio.gather(*clients, return_exceptions=True)
