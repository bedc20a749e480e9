"""`async for record in consumer`: the asynchronous iterator, compiled and as plain Python."""

import asyncio
import importlib.machinery
import importlib.util
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.clients.group import _iteration_hot


def _pure():
    path = Path(_iteration_hot.__file__).parent / "_iteration_hot.py"
    loader = importlib.machinery.SourceFileLoader("pure_iteration_hot", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


MODULES = {"installed": _iteration_hot, "pure": _pure()}


@pytest.fixture(params=MODULES)
def hot(request):
    return MODULES[request.param]


@dataclass
class FakeRecord:
    offset: int
    leader_epoch: int = 0


class Blocks:
    """Loads blocks of consecutive records of these sizes; `load` suspends once."""

    def __init__(self, hot, sizes):
        self.reader = hot.RecordIterator(threading.RLock())
        self.records = hot.AsyncRecords(self.reader, self.load)
        self.loads = 0
        self._sizes = list(sizes)
        self._next = 0

    async def load(self):
        self.loads += 1
        await asyncio.sleep(0)
        self.reader.resume()
        self.reader.unload()
        if not self._sizes:
            return False
        size = self._sizes.pop(0)
        block = [FakeRecord(self._next + index) for index in range(size)]
        self._next += size
        self.reader.load(block, 0, self._next)
        return True


@given(sizes=st.lists(st.integers(0, 5), max_size=6), name=st.sampled_from(list(MODULES)))
def test_all_records_in_order(sizes, name):
    async def read():
        blocks = Blocks(MODULES[name], sizes)
        positions = []
        async for record in blocks.records:
            positions.append((record.offset, blocks.reader.position()[0]))
        return positions, blocks

    positions, blocks = asyncio.run(read())
    assert positions == [(offset, offset + 1) for offset in range(sum(sizes))]
    assert blocks.loads == len(sizes) + 1
    assert blocks.reader.returned == sum(sizes)


async def test_the_position_moves_when_the_call_is_awaited(hot):
    blocks = Blocks(hot, [3])
    assert (await anext(blocks.records)).offset == 0
    call = blocks.records.__anext__()
    assert blocks.reader.position()[0] == 1
    assert (await call).offset == 1
    call = blocks.records.__anext__()
    call.close()
    assert blocks.reader.position()[0] == 2


async def test_cancelled_call_takes_no_record(hot):
    blocks = Blocks(hot, [3])
    await anext(blocks.records)
    task = asyncio.ensure_future(blocks.records.__anext__())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await anext(blocks.records)).offset == 1


async def test_interrupt_runs_load_before_the_next_record(hot):
    blocks = Blocks(hot, [3, 2])
    await anext(blocks.records)
    blocks.reader.interrupt()
    assert (await anext(blocks.records)).offset == 3
    assert blocks.loads == 2


async def test_end_is_repeated(hot):
    blocks = Blocks(hot, [])
    for _ in range(2):
        with pytest.raises(StopAsyncIteration):
            await anext(blocks.records)
    await blocks.records.aclose()


async def test_error_of_load_is_raised(hot):
    async def load():
        raise LookupError("no block")

    records = hot.AsyncRecords(hot.RecordIterator(threading.RLock()), load)
    with pytest.raises(LookupError, match="no block"):
        await anext(records)


async def test_wait_for(hot):
    blocks = Blocks(hot, [2])
    offsets = [(await asyncio.wait_for(anext(blocks.records), 5)).offset for _ in range(2)]
    assert offsets == [0, 1]
