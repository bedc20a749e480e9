"""Features of the embedded tree alone: it survives restarts, and one process uses it at a time."""

import asyncio
import sqlite3

import pytest

from barnabas.model.errors import LocalError
from barnabas.runtime.clock import SystemClock
from barnabas.zk.sqlite_tree import EmbeddedStore
from barnabas.zk.tree import ConnectionLossError, CreateOp, SetOp


@pytest.fixture
def path(tmp_path):
    return tmp_path / "metadata.db"


async def restarted(store, path):
    await store.close()
    return EmbeddedStore(SystemClock(), path)


async def test_persistent_nodes_survive_and_ephemeral_ones_do_not(path):
    store = EmbeddedStore(SystemClock(), path)
    tree = store.session()
    await tree.multi([CreateOp("/a"), CreateOp("/a/b", b"data"), CreateOp("/a/e", ephemeral=True)])
    before = await tree.set("/a/b", b"more")
    store = await restarted(store, path)
    tree = store.session()
    assert await tree.children("/a") == ["b"]
    assert await tree.get("/a/b") == (b"more", before)
    assert (await tree.exists("/a")).num_children == 1
    await store.close()


async def test_numbers_go_on_after_a_restart(path):
    store = EmbeddedStore(SystemClock(), path)
    tree = store.session()
    await tree.create("/a")
    await tree.create("/a/n_", sequential=True)
    await tree.create("/e", ephemeral=True)
    session_id, czxid = tree.session_id, (await tree.exists("/e")).czxid
    store = await restarted(store, path)
    tree = store.session()
    assert await tree.create("/a/n_", sequential=True) == "/a/n_0000000001"
    await tree.create("/e", ephemeral=True)
    assert (await tree.exists("/e")).czxid > czxid
    assert tree.session_id != session_id
    await store.close()


async def test_a_killed_process_loses_no_acknowledged_write(path):
    store = EmbeddedStore(SystemClock(), path)
    await store.session().create("/a", b"answered")
    copy = path.with_name("copy.db")
    for suffix in ("", "-wal"):
        source = path.with_name(path.name + suffix)
        copy.with_name(copy.name + suffix).write_bytes(source.read_bytes())
    again = EmbeddedStore(SystemClock(), copy)
    assert (await again.session().get("/a"))[0] == b"answered"
    await again.close()
    await store.close()


async def test_second_opener_is_rejected(path):
    store = EmbeddedStore(SystemClock(), path)
    with pytest.raises(LocalError, match=r"metadata\.db"):
        EmbeddedStore(SystemClock(), path)
    await store.close()


async def test_file_that_is_something_else_is_rejected(path):
    path.write_bytes(b"not a database, but long enough to be looked at" * 50)
    with pytest.raises(LocalError, match="cannot open"):
        EmbeddedStore(SystemClock(), path)


async def test_unknown_format_is_rejected(path):
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version=99")
    database.close()
    with pytest.raises(LocalError, match="format 99"):
        EmbeddedStore(SystemClock(), path)


async def test_failed_disk_changes_nothing_and_serving_goes_on(path, monkeypatch):
    store = EmbeddedStore(SystemClock(), path)
    tree, other = store.session(), store.session()
    await tree.create("/a", b"old")
    await other.create("/e", ephemeral=True)
    commit = store._journal.commit

    def full(changes):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(store._journal, "commit", full)
    ended, refused = await asyncio.gather(
        other.close(), tree.set("/a", b"new"), return_exceptions=True
    )
    assert ended is None
    assert isinstance(refused, ConnectionLossError)
    assert (await tree.get("/a"))[0] == b"old"
    monkeypatch.setattr(store._journal, "commit", commit)
    await tree.set("/a", b"new")
    assert (await tree.get("/a"))[0] == b"new"
    assert await tree.exists("/e") is None
    await store.close()


async def test_writes_that_arrive_together_share_a_commit(path, monkeypatch):
    store = EmbeddedStore(SystemClock(), path)
    tree = store.session()
    commits = []
    commit = store._journal.commit
    monkeypatch.setattr(store._journal, "commit", lambda rows: commits.append(commit(rows)))
    await asyncio.gather(*(tree.create(f"/{n}") for n in range(50)))
    assert len(commits) == 1
    await store.close()


async def test_rejected_write_in_a_batch_does_not_touch_its_neighbours(path):
    store = EmbeddedStore(SystemClock(), path)
    tree = store.session()
    results = await asyncio.gather(
        tree.create("/a"),
        tree.create("/a"),
        tree.multi([SetOp("/a", b"x", 0), CreateOp("/b")]),
        return_exceptions=True,
    )
    assert results[0] == "/a"
    assert type(results[1]).__name__ == "NodeExistsError"
    assert results[2][0].version == 1
    await store.close()


async def test_ephemeral_nodes_cost_no_commit(path, monkeypatch):
    store = EmbeddedStore(SystemClock(), path)
    tree = store.session()
    monkeypatch.setattr(store._journal, "commit", lambda rows: pytest.fail("went to disk"))
    await tree.create("/e", ephemeral=True)
    await tree.delete("/e")
    await store.close()


async def test_suspended_session_rejects_and_keeps_its_nodes():
    store = EmbeddedStore(SystemClock())
    tree = store.session()
    await tree.create("/e", ephemeral=True)
    tree.suspend()
    with pytest.raises(ConnectionLossError):
        await tree.get("/e")
    tree.resume()
    assert (await tree.exists("/e")).ephemeral_owner == tree.session_id
    await store.close()


@pytest.mark.parametrize("exists", [False, True])
async def test_the_file_is_for_its_owner_alone(tmp_path, exists):
    """It holds SCRAM keys; a file of an earlier version is restricted when it is opened."""
    path = tmp_path / "metadata.sqlite"
    if exists:
        path.touch(0o644)
    store = EmbeddedStore(SystemClock(), path)
    await store.session().create("/a", b"secret")
    modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
    await store.close()
    assert modes["metadata.sqlite"] == 0o600
    assert set(modes.values()) == {0o600}
