"""Background work: its errors are logged, and a stop waits for its end."""

import asyncio
import logging
from types import SimpleNamespace

from barnabas.broker.tasks import BackgroundTasks, check_in_sync
from barnabas.model.errors import UnavailableError


async def test_errors_of_tasks_are_logged(caplog):
    async def fails(error):
        raise error

    tasks = BackgroundTasks()
    with caplog.at_level(logging.WARNING, "barnabas.broker"):
        tasks.start(fails(UnavailableError("away")))
        tasks.start(fails(KeyError("a mistake")))
        for _ in range(3):
            await asyncio.sleep(0)
    told = [(item.levelname, item.exc_info is not None) for item in caplog.records]
    assert told == [("WARNING", False), ("ERROR", True)]
    await tasks.stop()


async def test_the_end_comes_before_the_beginning():
    done = []

    async def work():
        done.append(1)

    tasks = BackgroundTasks()
    tasks.start(work())
    await tasks.stop()
    assert not done, "and no coroutine is left behind, which would be an error here"


async def test_the_in_sync_check_visits_partitions_with_followers_only():
    visited = []
    replicas = SimpleNamespace(
        replicated_partitions=lambda: iter(range(1_200)),
        tick=lambda partitions: visited.append(len(partitions)),
    )
    await check_in_sync(replicas)
    assert visited == [500, 500, 200]
