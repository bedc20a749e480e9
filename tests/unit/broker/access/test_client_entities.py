"""Users and quotas in the metadata tree."""

import json

import pytest

from barnabas.broker.access.client_entities import ClientEntities
from barnabas.broker.access.client_quotas import parts_of, path_of, quotas_of, table_of
from barnabas.security.quotas import Limit
from barnabas.security.scram_keys import SCRAM_SHA_256, ScramCredential
from barnabas.testing.virtual_clock import VirtualClock
from barnabas.zk.sqlite_tree import EmbeddedStore


@pytest.fixture
async def tree():
    store = EmbeddedStore(VirtualClock())
    session = store.session()
    for kind in ("users", "clients", "ips", "changes"):
        await session.ensure_path(f"/config/{kind}")
    yield session
    await store.close()


async def test_credentials_and_quotas_share_a_node(tree):
    changes = []
    entities = ClientEntities(tree, lambda: changes.append(1))
    await entities.load()
    credential = ScramCredential.from_password(SCRAM_SHA_256, "secret", b"s" * 16)
    await entities.change("users/al%20ice", lambda v: v.update({"producer_byte_rate": "10"}))
    await entities.change(
        "users/al%20ice", lambda v: v.update({"SCRAM-SHA-256": credential.render()})
    )
    data, _ = await tree.get("/config/users/al%20ice")
    assert set(json.loads(data)["config"]) == {"producer_byte_rate", "SCRAM-SHA-256"}
    assert entities.credential("al ice", "SCRAM-SHA-256") == credential
    assert entities.credential("al ice", "SCRAM-SHA-512") is None
    assert entities.credential("bob", "SCRAM-SHA-256") is None
    assert len(changes) == 3
    again = ClientEntities(tree, lambda: None)
    await again.load()
    assert again.all() == entities.all()
    names = await tree.children("/config/changes")
    paths = [json.loads((await tree.get(f"/config/changes/{n}"))[0])["entity_path"] for n in names]
    assert paths == ["users/al%20ice"] * 2


async def test_a_change_without_effect_is_not_announced(tree):
    entities = ClientEntities(tree, lambda: None)
    await entities.change("clients/c", lambda values: values.clear())
    assert await tree.children("/config/changes") == []


async def test_clients_of_users_are_read(tree):
    entities = ClientEntities(tree, lambda: None)
    await entities.change(
        "users/<default>/clients/etl", lambda v: v.update({"consumer_byte_rate": "5"})
    )
    again = ClientEntities(tree, lambda: None)
    await again.load()
    table = table_of("consumer_byte_rate", again.all().items())
    assert table.limit("anybody", "etl") == Limit(5.0, ("anybody", "etl"))
    assert table.limit("anybody", "other") is None


async def test_invalid_credentials_and_quotas_are_ignored(tree):
    entities = ClientEntities(tree, lambda: None)
    await entities.change(
        "users/a", lambda v: v.update({"SCRAM-SHA-256": "x", "producer_byte_rate": "many"})
    )
    assert entities.credential("a", "SCRAM-SHA-256") is None
    assert quotas_of(entities.of("users/a")) == {}


@pytest.mark.parametrize(
    "path",
    ["users/a", "users/<default>", "clients/a%2Fb", "users/a/clients/<default>", "ips/10.0.0.1"],
)
def test_paths_and_parts(path):
    assert path_of(parts_of(path)) == path
