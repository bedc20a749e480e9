"""A real broker inside the test's process: any client library in any thread may talk to it.

It is the product's own broker on a free port and a directory that goes when it stops, run by an
event loop in a thread of its own. Nothing here is a fake.
"""

import asyncio
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from barnabas.broker.app import Broker as BrokerApp
from barnabas.broker.config import BrokerConfig
from barnabas.model.errors import LocalError

START_SECONDS = 30.0

TEST_DEFAULTS: dict[str, object] = {
    "group.initial.rebalance.delay.ms": 0,
    "offsets.topic.num.partitions": 1,
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.num.partitions": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
}
"""What tests want: groups that form at once, and small coordinator topics."""


class Broker:
    """An embedded broker with a life of its own; use it as a context manager.

    >>> with Broker() as broker:
    ...     broker.bootstrap_servers.startswith("127.0.0.1:")
    True

    Broker settings go by Kafka's names: `Broker({"num.partitions": 3})`. With `data_dir` the data
    stays after the broker stopped, and a second `Broker` on it carries on.
    """

    def __init__(
        self,
        config: dict[str, object] | None = None,
        *,
        data_dir: Path | str | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.host = host
        self.port = port
        self._config = {**TEST_DEFAULTS, **(config or {})}
        self._data_dir = None if data_dir is None else Path(data_dir)
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._ready = threading.Event()
        self._failure: BaseException | None = None

    @property
    def bootstrap_servers(self) -> str:
        """What a client's `bootstrap.servers` wants."""
        return f"{self.host}:{self.port}"

    @property
    def data_dir(self) -> Path:
        """Where the logs are."""
        if self._data_dir is None:
            raise LocalError("the broker has no directory until it is started")
        return self._data_dir

    def start(self) -> Self:
        """Start and wait until it listens."""
        if self._thread is not None:
            raise LocalError("the broker is running already")
        if self._data_dir is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="barnabas-")
            self._data_dir = Path(self._temporary.name)
        self._thread = threading.Thread(target=self._run, name="barnabas-broker", daemon=True)
        self._thread.start()
        self._ready.wait(START_SECONDS)
        if self._failure is not None:
            self._thread.join()
            raise self._failure
        return self

    def stop(self) -> None:
        """Stop cleanly; a temporary directory goes with it."""
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None
            self._data_dir = None
        self._ready.clear()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits in start()
            self._failure = error
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        settings = {
            **self._config,
            "listeners": f"PLAINTEXT://{self.host}:{self.port}",
            "log.dirs": str(self.data_dir),
        }
        app = BrokerApp(BrokerConfig.parse(settings))
        await app.start()
        self.port = app.port
        self._ready.set()
        await self._stop.wait()
        await app.stop()
