"""Checks whether a broker can be reached, their use in reads and pages; slashes in group ids."""

import asyncio
from datetime import UTC, datetime

import httpx
import pytest
from fastapi import FastAPI

from barnabas.console.api.routing import EncodedSlashes, GroupName
from barnabas.console.cluster_link import ClusterLink
from barnabas.console.models.cluster import ConnectionState
from barnabas.console.services.cluster import ConnectionService
from barnabas.model.errors import DeadlineError, UnavailableError


class FakeAdmin:
    def __init__(self):
        self.calls = 0
        self.error = None

    async def describe_cluster(self, timeout):
        self.calls += 1
        await asyncio.sleep(0)
        if self.error is not None:
            raise self.error


class FakeLink(ClusterLink):
    """A link with a fake admin client and a clock."""

    def __init__(self):
        self.now_s = 0.0
        super().__init__({"bootstrap.servers": "localhost:1"}, lambda: self.now_s)
        self.fake = FakeAdmin()

    @property
    def admin(self):
        return self.fake


async def test_a_reachable_cluster_is_checked_once_in_a_while():
    link = FakeLink()
    await asyncio.gather(link.check_reachable(), link.check_reachable())
    await link.check_reachable()
    assert link.fake.calls == 1
    link.now_s = 60
    await link.check_reachable()
    assert link.fake.calls == 2


async def test_the_reason_is_the_cause_of_the_deadline():
    link = FakeLink()
    link.fake.error = DeadlineError("describe cluster: cannot connect")
    link.fake.error.__cause__ = UnavailableError("cannot connect")
    with pytest.raises(UnavailableError, match=r"^cannot connect$"):
        await link.check_reachable()
    link.fake.error = None
    await link.check_reachable()


async def test_a_read_ends_when_the_cluster_becomes_unreachable(monkeypatch):
    monkeypatch.setattr("barnabas.console.cluster_link._CHECK_INTERVAL_S", 0)
    link = FakeLink()
    await link.check_reachable()
    link.fake.error = UnavailableError("cannot connect")
    read = asyncio.ensure_future(asyncio.Event().wait())
    with pytest.raises(UnavailableError, match=r"^cannot connect$"):
        await link.while_reachable(read)
    await asyncio.sleep(0)
    assert read.cancelled()


async def test_a_slow_read_of_a_reachable_cluster_is_awaited(monkeypatch):
    monkeypatch.setattr("barnabas.console.cluster_link._CHECK_INTERVAL_S", 0)
    link = FakeLink()
    released = asyncio.Event()
    read = asyncio.ensure_future(link.while_reachable(released.wait()))
    while link.fake.calls < 2:
        await asyncio.sleep(0)
        link.now_s += 60
    released.set()
    assert await read


async def test_changes_of_the_connection_are_yielded(monkeypatch):
    monkeypatch.setattr("barnabas.console.services.cluster.CHECK_INTERVAL_S", 0)
    link = FakeLink()
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    changes = ConnectionService(link, lambda: at).changes()
    assert await anext(changes) == ConnectionState(reachable=True)
    link.fake.error = UnavailableError("cannot connect")
    lost = ConnectionState(reachable=False, last_answer=at, message="cannot connect")
    assert await anext(changes) == lost
    link.fake.error = None
    assert await anext(changes) == ConnectionState(reachable=True)
    await changes.aclose()


@pytest.mark.parametrize("group", ["a/b", "orders/events", "%2F", "plain", "ü/ü"])
async def test_a_group_id_with_slashes_is_one_parameter(group):
    app = FastAPI()

    @app.get("/groups/{group}")
    async def describe(group: GroupName) -> str:
        return group

    @app.get("/groups/{group}/events")
    async def follow(group: GroupName) -> str:
        return f"events of {group}"

    transport = httpx.ASGITransport(EncodedSlashes(app))
    async with httpx.AsyncClient(transport=transport, base_url="http://t") as client:
        path = f"/groups/{httpx.QueryParams({'q': group})}".replace("q=", "").replace("+", "%20")
        assert (await client.get(path)).json() == group
        assert (await client.get(f"{path}/events")).json() == f"events of {group}"
