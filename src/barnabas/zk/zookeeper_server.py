"""A real ZooKeeper server without a download: its classes are in PySpark's jars.

`ZooKeeperServer` writes a configuration, runs one server in a separate Java process and waits until
it serves. The process ends with this process, even if this one is killed. Several servers with the
same list of members are an ensemble. PySpark's location is looked up without importing PySpark,
which would take time.
"""

import asyncio
import contextlib
import importlib.util
import os
import signal
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from barnabas.model.errors import DeadlineError, LocalError, UnavailableError
from barnabas.model.properties import render_properties
from barnabas.runtime.child_process import free_port, spawn
from barnabas.runtime.java import find_java

_STANDALONE = "org.apache.zookeeper.server.ZooKeeperServerMain"
_QUORUM = "org.apache.zookeeper.server.quorum.QuorumPeerMain"


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One server. `port` 0 selects a free one; `members` makes it part of an ensemble.

    `members` maps server ids to `host:quorum_port:election_port`, including this server. `other`
    are further keys of zoo.cfg; they override the defaults here. `short_life` saves half the CPU
    time of a start: the JVM's second compiler does not pay off in a server that tests start.
    """

    data_dir: Path
    port: int = 0
    host: str = "127.0.0.1"
    tick_ms: int = 2000
    max_heap: str = "256m"
    server_id: int = 1
    members: Mapping[int, str] = field(default_factory=dict)
    other: Mapping[str, str] = field(default_factory=dict)
    short_life: bool = False

    def render(self, port: int) -> str:
        """The text of zoo.cfg."""
        values = {
            "dataDir": self.data_dir,
            "clientPort": port,
            "clientPortAddress": self.host,
            "tickTime": self.tick_ms,
            "initLimit": 10,
            "syncLimit": 5,
            "maxClientCnxns": 0,
            "admin.enableServer": "false",
            "4lw.commands.whitelist": "srvr,ruok,stat,mntr,cons",
            "autopurge.purgeInterval": 1,
            **{f"server.{number}": address for number, address in self.members.items()},
            **self.other,
        }
        return render_properties(values)


class ZooKeeperServer:
    """The process. `start` returns when it serves, `stop` when it has ended."""

    def __init__(self, config: ServerConfig) -> None:
        self._config = config
        self._process: subprocess.Popen[bytes] | None = None
        self._port = config.port

    @property
    def connect_string(self) -> str:
        return f"{self._config.host}:{self._port}"

    @property
    def port(self) -> int:
        return self._port

    @property
    def running(self) -> bool:
        """Whether the process was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    async def start(self, timeout_s: float = 60.0) -> None:
        """Starts and waits until clients are served; an ensemble needs a majority of its
        members.
        """
        await self.launch()
        await self.wait_until_serving(timeout_s)

    async def launch(self) -> None:
        """Starts the process without waiting: the members of an ensemble wait for each other."""
        java, jars = find_java("ZooKeeper"), find_jars()
        self._port = _reserve_port(self._config.host, self._port)
        config_file = self._prepare()
        main = _QUORUM if self._config.members else _STANDALONE
        log = (self._config.data_dir / "zookeeper.log").open("ab")
        with log:
            command = [
                java,
                f"-Xmx{self._config.max_heap}",
                "-XX:+UseSerialGC",
                *(["-XX:TieredStopAtLevel=1"] if self._config.short_life else []),
                "-Dzookeeper.jmx.log4j.disable=true",
                "-cp",
                f"{jars}/*",
                main,
                str(config_file),
            ]
            self._process = spawn(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    async def wait_until_serving(self, timeout_s: float = 60.0) -> None:
        try:
            async with asyncio.timeout(timeout_s):
                while not await self._serves():
                    self._raise_if_dead()
                    await asyncio.sleep(0.05)
        except TimeoutError as error:
            await self.stop()
            raise DeadlineError(f"ZooKeeper does not serve after {timeout_s} s") from error

    async def stop(self, timeout_s: float = 10.0) -> None:
        """Ends the process and waits for it; sends SIGKILL after a timeout."""
        if self._process is None:
            return
        process, self._process = self._process, None
        process.terminate()
        try:
            await asyncio.to_thread(process.wait, timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            await asyncio.to_thread(process.wait)

    def pause(self) -> None:
        """SIGSTOP, for tests of a server that hangs."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            os.kill(self._process.pid, number)

    def _prepare(self) -> Path:
        data_dir = self._config.data_dir
        data_dir.mkdir(0o700, parents=True, exist_ok=True)
        if self._config.members:
            (data_dir / "myid").write_text(f"{self._config.server_id}\n")
        config_file = data_dir / "zoo.cfg"
        config_file.write_text(self._config.render(self._port))
        return config_file

    async def _serves(self) -> bool:
        """Whether the server has a quorum: only then its response to `srvr` contains a mode."""
        try:
            async with asyncio.timeout(1.0):
                response = await _four_letter_word(self._config.host, self._port, b"srvr")
        except (OSError, TimeoutError):
            return False
        return b"Mode:" in response

    def _raise_if_dead(self) -> None:
        code = None if self._process is None else self._process.poll()
        if code is not None:
            log = (self._config.data_dir / "zookeeper.log").read_text(errors="replace")
            tail = "\n".join(log.splitlines()[-15:])
            raise UnavailableError(f"ZooKeeper ended with exit code {code}:\n{tail}")


def find_jars() -> Path:
    """The folder of PySpark's jars, found without importing PySpark."""
    spec = importlib.util.find_spec("pyspark")
    folders = spec.submodule_search_locations if spec is not None else None
    jars = Path(next(iter(folders)), "jars") if folders else None
    if jars is None or not any(jars.glob("zookeeper-*.jar")):
        raise LocalError("ZooKeeper comes with PySpark's jars: pip install 'barnabas[spark]'")
    return jars


async def _four_letter_word(host: str, port: int, word: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(word)
        await writer.drain()
        return await reader.read()
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def _reserve_port(host: str, port: int) -> int:
    """Returns a free port: the given one, or with 0 any.

    Checked before the start: if another process used the port, its responses would be taken for
    those of this server.
    """
    if not port:
        return free_port(host)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise LocalError(
                f"ZooKeeper cannot listen on {host}:{port}: {error.strerror}"
            ) from error
    return port
