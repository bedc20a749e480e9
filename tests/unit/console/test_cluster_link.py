"""The check whether a broker can be reached, and slashes in group ids."""

import asyncio

import httpx
import pytest
from fastapi import FastAPI

from barnabas.console.api.slashes import EncodedSlashes, GroupName
from barnabas.console.cluster_link import ClusterLink
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
