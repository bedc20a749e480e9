"""A real broker inside the test's process: any client library in any thread may talk to it.

It is the product's own broker on a free port and a directory that goes when it stops, run by an
event loop in a thread of its own. Nothing here is a fake; what a test adds is a clock it may move
ahead, errors on purpose, and a way to make the broker hang.
"""

import asyncio
import shutil
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from barnabas.broker.app import Broker as BrokerApp
from barnabas.broker.config import BrokerConfig
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import LocalError
from barnabas.testing.clock import BrokerClock
from barnabas.testing.faults import Failure, FaultInjector, SeenRequest, api_named
from barnabas.testing.server import KafkaServer, unique_name
from barnabas.wire.api_keys import ApiKey

START_SECONDS = 30.0
MEMORY_DIR = Path("/dev/shm")

TEST_DEFAULTS: dict[str, object] = {
    "group.initial.rebalance.delay.ms": 0,
    "offsets.topic.num.partitions": 1,
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.num.partitions": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    # A clock moved ahead by hours must not make every connection an idle one.
    "connections.max.idle.ms": -1,
}
"""What tests want: groups that form at once, and small coordinator topics."""


class Broker(KafkaServer):
    """An embedded broker with a life of its own; use it as a context manager.

    >>> with Broker() as broker:
    ...     topic = broker.topic(partitions=2)
    ...     _ = broker.produce(topic, "one", "two", key="k")
    ...     [record.value for record in broker.records(topic)]
    [b'one', b'two']

    Broker settings go by Kafka's names: `Broker({"num.partitions": 3})`. With `data_dir` the data
    stays after the broker stopped, and a second `Broker` on it carries on. `in_memory` keeps the
    data off the disk. `listeners` among the settings takes the place of `host` and `port`.
    """

    def __init__(
        self,
        config: Mapping[str, object] | None = None,
        *,
        data_dir: Path | str | None = None,
        in_memory: bool = False,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        super().__init__()
        self.host = host
        self.port = port
        self.ports: dict[str, int] = {}
        """The port of every listener, by its name, once the broker runs."""
        self.clock = BrokerClock()
        self._config = {**TEST_DEFAULTS, **(config or {})}
        self._data_dir = None if data_dir is None else Path(data_dir)
        self._in_memory = in_memory
        self._faults = FaultInjector()
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._snapshots: tempfile.TemporaryDirectory[str] | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._ready = threading.Event()
        self._running = threading.Event()
        self._running.set()
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

    # -- life ----------------------------------------------------------------------------------

    def start(self) -> Self:
        """Start and wait until it listens."""
        if self._thread is not None:
            raise LocalError("the broker is running already")
        if self._data_dir is None:
            self._temporary = self._new_directory()
            self._data_dir = Path(self._temporary.name)
        self._thread = threading.Thread(target=self._run, name="barnabas-broker", daemon=True)
        self._thread.start()
        self._ready.wait(START_SECONDS)
        if self._failure is not None:
            failure, self._failure = self._failure, None
            self._end_thread()
            self._remove_directory()
            raise failure
        return self

    def stop(self) -> None:
        """Stop cleanly; a temporary directory goes with it."""
        self.resume()
        self.close_clients()
        self._end_thread()
        self._remove_directory()

    def restart(self) -> None:
        """Stop cleanly and start on the same data and port."""
        self.resume()
        self._end_thread()
        self.start()

    def snapshot(self) -> Path:
        """Keep all that is there now, to `restore` it later; goes when the broker stops."""
        if self._snapshots is None:
            self._snapshots = self._new_directory()
        kept = Path(self._snapshots.name) / unique_name("snapshot")
        self.resume()
        self._end_thread()
        shutil.copytree(self.data_dir, kept)
        self.start()
        return kept

    def restore(self, snapshot: Path) -> None:
        """Go back to a snapshot, on the same port.

        Consumers connect anew by themselves; an idempotent producer made before must be made anew,
        for the broker no longer remembers its last records.
        """
        self.resume()
        self.close_clients()
        self._end_thread()
        for item in self.data_dir.iterdir():
            shutil.rmtree(item) if item.is_dir() else item.unlink()
        shutil.copytree(snapshot, self.data_dir, dirs_exist_ok=True)
        self.start()

    def pause(self) -> None:
        """Hang, as a stopped process does: connections stay, nothing is answered, no timer runs."""
        if self._loop is None or self._thread is None:
            raise LocalError("the broker is not running")
        hanging = threading.Event()
        self._running.clear()

        def hang() -> None:
            hanging.set()
            self._running.wait()

        self._loop.call_soon_threadsafe(hang)
        hanging.wait()

    def resume(self) -> None:
        """Go on after `pause`."""
        self._running.set()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    # -- faults --------------------------------------------------------------------------------

    def fail(
        self, api: ApiKey | str, error: ErrorCode | str | None, times: int | None = 1
    ) -> Failure:
        """Answer the next requests of an API with an error, and do nothing else for them.

        `error` is Kafka's name or code; None closes the connection instead. `times=None` goes on
        until `heal()`. The result counts the `hits`.
        """
        return self._faults.plan(api, error, times)

    def heal(self) -> None:
        """Take back every failure that is still to come."""
        self._faults.heal()

    def requests(self, api: ApiKey | str | None = None) -> list[SeenRequest]:
        """The last requests that came, of all APIs or of one."""
        seen = list(self._faults.seen)
        return seen if api is None else [item for item in seen if item.api is api_named(api)]

    # -- inside --------------------------------------------------------------------------------

    def _new_directory(self) -> "tempfile.TemporaryDirectory[str]":
        if self._in_memory and not MEMORY_DIR.is_dir():
            raise LocalError(f"in_memory needs {MEMORY_DIR}, which this machine does not have")
        place = MEMORY_DIR if self._in_memory else None
        return tempfile.TemporaryDirectory(prefix="barnabas-", dir=place)

    def _end_thread(self) -> None:
        if self._loop is not None and self._stop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stop.set)
        if self._thread is not None:
            self._thread.join()
        self._thread = self._loop = self._stop = None
        self._ready.clear()

    def _remove_directory(self) -> None:
        if self._snapshots is not None:
            self._snapshots.cleanup()
            self._snapshots = None
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None
            self._data_dir = None

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=self.clock.new_loop) as runner:
                runner.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits in start()
            self._failure = error
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        settings = {
            "listeners": f"PLAINTEXT://{self.host}:{self.port}",
            **self._config,
            "log.dirs": str(self.data_dir),
        }
        app = BrokerApp(BrokerConfig.parse(settings), clock=self.clock, interceptor=self._faults)
        await app.start()
        self.port = app.port
        self.ports = app.ports
        self._ready.set()
        await self._stop.wait()
        await app.stop()
