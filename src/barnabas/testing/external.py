"""A cluster that runs elsewhere, behind the helpers that tests use with the broker in process."""

from barnabas.model.errors import LocalError
from barnabas.testing.server import KafkaServer

_OF_AN_OWN_BROKER = frozenset(
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
    """Topics and records by `bootstrap_servers`; what only an own broker can do says so."""

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
        if name in _OF_AN_OWN_BROKER:
            raise InProcessOnlyError(f"`{name}` needs the broker in process, not an external one")
        raise AttributeError(name)


class InProcessOnlyError(LocalError, AttributeError):
    """A test asks an external cluster for what only a broker in process can do."""
