"""Brokers of one cluster as threads of the test process, without ZooKeeper and Java.

They share an embedded metadata tree and the event loop of one thread, and communicate over
sockets as separate processes do. They can be stopped and started, but not killed.
"""

import asyncio
import signal
import threading
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from barnabas.broker.app import Broker
from barnabas.broker.broker_process import START_SECONDS, STOP_SECONDS, free_port
from barnabas.broker.config import BrokerConfig
from barnabas.model.errors import LocalError
from barnabas.runtime.clock import SystemClock
from barnabas.zk.sqlite_tree import EmbeddedStore

_Result = TypeVar("_Result")


class BrokerLoop:
    """The thread, event loop and metadata tree that the brokers share."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="barnabas-brokers", daemon=True
        )
        self._thread.start()
        self.store = EmbeddedStore(SystemClock())

    def run(self, work: Coroutine[Any, Any, _Result], timeout_s: float) -> _Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout_s)

    def close(self) -> None:
        self.run(self.store.close(), STOP_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class BrokerInThread:
    """One broker with the interface of `BrokerProcess`; `kill` and `signal` raise LocalError."""

    def __init__(
        self, broker_id: int, directory: Path, settings: Mapping[str, object], loop: BrokerLoop
    ) -> None:
        self.broker_id = broker_id
        self.port = free_port()
        self.data_dir = directory / f"broker-{broker_id}"
        self.kills = 0
        self.settings = {
            "broker.id": broker_id,
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port}",
            "log.dirs": str(self.data_dir),
            **settings,
        }
        self._loop = loop
        self._broker: Broker | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def http_url(self) -> str | None:
        """Address of the HTTP endpoints; None if `http.listener` is not set or it is stopped."""
        return None if self._broker is None else self._broker.http_url

    @property
    def running(self) -> bool:
        return self._broker is not None

    def launch(self) -> None:
        self._broker = self._loop.run(self._start(), START_SECONDS)

    def wait_until_ready(self) -> None:
        """Does nothing: `launch` returns when the broker is ready."""

    def terminate(self) -> int:
        """Stop the broker by a controlled shutdown."""
        broker, self._broker = self._broker, None
        if broker is not None:
            self._loop.run(broker.stop(), STOP_SECONDS)
        return 0

    def kill(self) -> NoReturn:
        raise LocalError("a broker in a thread cannot be killed: use zookeeper=True")

    def signal(self, number: signal.Signals) -> NoReturn:
        raise LocalError("a broker in a thread gets no signals: use zookeeper=True")

    async def _start(self) -> Broker:
        broker = Broker(BrokerConfig.parse(self.settings), store=self._loop.store)
        await broker.start()
        return broker
