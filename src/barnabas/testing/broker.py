"""Runs a real broker in the test process; any client library can connect to it.

This is the product's broker on a free port with a temporary directory, run by an event loop in its
own thread. Nothing is faked. In addition a test can advance the broker's clock, inject errors, and
pause the broker.
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
from barnabas.model.errors import DeadlineError, LocalError
from barnabas.testing.faults import FaultInjector, InjectedFailure, SeenRequest, api_named
from barnabas.testing.server import KafkaServer, unique_name
from barnabas.testing.virtual_clock import BrokerClock
from barnabas.wire.api_keys import ApiKey

START_SECONDS = 30.0
MEMORY_DIR = Path("/dev/shm")
_NOT_RUNNING = "the broker is not running: call start(), or use it in a `with` block"

TEST_DEFAULTS: dict[str, object] = {
    "group.initial.rebalance.delay.ms": 0,
    "offsets.topic.num.partitions": 1,
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.num.partitions": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    # Advancing the clock by hours must not close every connection as idle.
    "connections.max.idle.ms": -1,
}
"""Broker settings for tests: no initial rebalance delay, small coordinator topics."""


class Broker(KafkaServer):
    """An embedded broker for tests; use it as a context manager.

    >>> with Broker() as broker:
    ...     topic = broker.topic(partitions=2)
    ...     _ = broker.produce(topic, "one", "two", key="k")
    ...     [record.value for record in broker.records(topic)]
    [b'one', b'two']

    Args:
        config: broker settings by Kafka's names, for example `{"num.partitions": 3}`. A
            `listeners` setting replaces `host` and `port`.
        data_dir: keep the data in this directory after the broker stops; a second `Broker` on
            the same directory continues with it (default: a temporary directory).
        in_memory: put the temporary directory on a memory file system.
        host: the address to listen on.
        port: the port to listen on (0: any free port).

    Raises:
        ConfigError: a setting is unknown or invalid.
        LocalError: `in_memory` is not available on this machine.
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
        """The port of each listener by name; filled when the broker has started."""
        self.http_url: str | None = None
        """Address of the HTTP endpoints, if `http.listener` is configured and the broker runs."""
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
        """The value for `bootstrap.servers` of a client."""
        if not self.port:
            raise LocalError(_NOT_RUNNING)
        return f"{self.host}:{self.port}"

    @property
    def data_dir(self) -> Path:
        """The directory that contains the logs."""
        if self._data_dir is None:
            raise LocalError("the broker has no directory until it is started")
        return self._data_dir

    # -- start and stop ------------------------------------------------------------------------

    def start(self) -> Self:
        """Starts the broker and waits until it listens."""
        if self._thread is not None:
            raise LocalError("the broker is already running")
        if self._data_dir is None:
            self._temporary = self._new_directory()
            self._data_dir = Path(self._temporary.name)
        self._thread = threading.Thread(target=self._run, name="barnabas-broker", daemon=True)
        self._thread.start()
        if not self._ready.wait(START_SECONDS):
            raise DeadlineError(f"the broker did not start within {START_SECONDS:g} s")
        if self._failure is not None:
            failure, self._failure = self._failure, None
            self._end_thread()
            self._remove_directory()
            raise failure
        return self

    def stop(self) -> None:
        """Stops cleanly and removes the temporary directory."""
        self.resume()
        self.close_clients()
        self._end_thread()
        self._remove_directory()

    def restart(self) -> None:
        """Stops cleanly and starts on the same data and port."""
        self.resume()
        self._end_thread()
        self.start()

    def snapshot(self) -> Path:
        """Copies all data, to `restore` it later; the copy is removed when the broker stops."""
        if self._snapshots is None:
            self._snapshots = self._new_directory()
        kept = Path(self._snapshots.name) / unique_name("snapshot")
        self.resume()
        self._end_thread()
        shutil.copytree(self.data_dir, kept)
        self.start()
        return kept

    def restore(self, snapshot: Path) -> None:
        """Restores the data of a snapshot, on the same port.

        Consumers reconnect. Idempotent producers that were created before must be replaced,
        because the broker has lost their producer state.
        """
        self.resume()
        self.close_clients()
        self._end_thread()
        for item in self.data_dir.iterdir():
            shutil.rmtree(item) if item.is_dir() else item.unlink()
        shutil.copytree(snapshot, self.data_dir, dirs_exist_ok=True)
        self.start()

    def pause(self) -> None:
        """Pauses like a stopped process: connections stay open, no response, no timers."""
        if self._loop is None or self._thread is None:
            raise LocalError(_NOT_RUNNING)
        hanging = threading.Event()
        self._running.clear()

        def hang() -> None:
            hanging.set()
            self._running.wait()

        self._loop.call_soon_threadsafe(hang)
        hanging.wait()

    def resume(self) -> None:
        """Continues after `pause`."""
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
    ) -> InjectedFailure:
        """Makes the broker return an error for the next requests of an API, unprocessed.

        Args:
            api: the API, for example `"Produce"`.
            error: Kafka's name or code of the error; None closes the connection instead.
            times: number of requests that fail; None means until `heal()` is called.

        Returns:
            The planned failure; its `hits` counts the requests that failed.
        """
        return self._faults.plan(api, error, times)

    def heal(self) -> None:
        """Cancels all planned failures."""
        self._faults.heal()

    def requests(self, api: ApiKey | str | None = None) -> list[SeenRequest]:
        """Returns the most recent requests, of one API or of all."""
        seen = list(self._faults.seen)
        return seen if api is None else [item for item in seen if item.api is api_named(api)]

    # -- private ------------------------------------------------------------------------------

    def _check_running(self) -> None:
        if self._thread is None:
            raise LocalError(_NOT_RUNNING)

    def _new_directory(self) -> "tempfile.TemporaryDirectory[str]":
        if self._in_memory and not MEMORY_DIR.is_dir():
            raise LocalError(f"in_memory needs {MEMORY_DIR}, which does not exist on this machine")
        parent = MEMORY_DIR if self._in_memory else None
        return tempfile.TemporaryDirectory(prefix="barnabas-", dir=parent)

    def _end_thread(self) -> None:
        if self._thread is not None and not self._ready.wait(START_SECONDS):
            raise DeadlineError("the broker is still starting and cannot be stopped")
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
        except BaseException as error:  # noqa: BLE001 - re-raised by start()
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
        self.http_url = app.http_url
        self._ready.set()
        await self._stop.wait()
        await app.stop()
