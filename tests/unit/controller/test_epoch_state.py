"""Work of a epoch_state, queued among the work of others."""

import asyncio

import pytest
from support.cluster.controller_cluster import QUIET, FakeChannels

from barnabas.controller.active.epoch_state import ControllerEpoch, ControllerEpochState
from barnabas.controller.controller import EventQueue
from barnabas.runtime.clock import SystemClock
from barnabas.zk.sqlite_tree import EmbeddedStore


@pytest.fixture
async def events():
    queue = EventQueue(lambda error: pytest.fail(str(error)))
    task = asyncio.create_task(queue.run())
    yield queue
    task.cancel()


def epoch_state_of(epoch, events):
    tree = EmbeddedStore(SystemClock()).session()
    return ControllerEpochState(
        ControllerEpoch(1, epoch, epoch), tree, FakeChannels(), QUIET, events
    )


async def test_work_of_an_ended_epoch_is_dropped_and_does_not_suppress_the_next_epochs_work(events):
    done = []
    old, new = epoch_state_of(1, events), epoch_state_of(2, events)

    def work(name):
        async def run():
            done.append(name)

        return run

    events.pause()
    old.submit("topics", work("old"))
    old.end()
    old.submit("topics", work("too late"))
    new.submit("topics", work("new"))
    new.submit("topics", work("again"))
    events.resume()
    await asyncio.sleep(0.01)  # also time for what must not happen
    assert done == ["new"]
