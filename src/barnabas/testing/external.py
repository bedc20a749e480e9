"""A cluster outside the test process, with the helper methods of the in-process broker."""

from barnabas.model.errors import LocalError
from barnabas.testing.server import KafkaServer

_IN_PROCESS_ONLY = frozenset(
    [
        "clock",
        "data_dir",
        "fail",
        "heal",
        "pause",
        "requests",
        "restart",
        "restore",
        "resume",
        "snapshot",
    ]
)


class ExternalKafka(KafkaServer):
    """A cluster given by its address; methods that need the broker in process raise an error."""

    def __init__(self, bootstrap_servers: str) -> None:
        super().__init__()
        self._bootstrap_servers = bootstrap_servers
        first = bootstrap_servers.split(",")[0]
        self.host, _, port = first.rpartition(":")
        self.port = int(port)

    @property
    def bootstrap_servers(self) -> str:
        return self._bootstrap_servers

    def __getattr__(self, name: str) -> object:
        if name in _IN_PROCESS_ONLY:
            raise InProcessOnlyError(f"`{name}` needs a broker in the test process")
        raise AttributeError(name)


class InProcessOnlyError(LocalError, AttributeError):
    """A test used a method of the in-process broker with an external cluster."""
