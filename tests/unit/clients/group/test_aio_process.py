"""Checks of the options of the asyncio `process()`."""

import pytest

from barnabas.clients.group.aio_process import AioProcessRun
from barnabas.clients.group.process import ProcessOptions
from barnabas.model.errors import LocalError


class BlockingProducer:
    def send(self, *record): ...

    def flush(self): ...


async def handle(record): ...


def test_blocking_producer_is_rejected():
    options = ProcessOptions(on_error="dlq", producer=BlockingProducer())
    with pytest.raises(LocalError, match=r"barnabas\.aio\.Producer"):
        AioProcessRun(None, handle, options)
