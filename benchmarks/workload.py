"""One load of the matrix, as a value that the runner passes to the process of a client.

`Workload` says what is done (operation, record, number of partitions) and how (client, settings,
security). `loads` has one module for each client that does it.
"""

import json
import random
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

CODECS = ("gzip", "snappy", "lz4", "zstd")
BATCH_BYTES = 1_000_000
FETCH_BYTES = 16 * 1024**2
AT_ONCE = 10_000
"""Records of one poll where the client has such a limit, and records between two commits."""
HEADERS = [("source", b"web"), ("trace", b"0123456789abcdef")]
KEYS = [b"customer %d" % number for number in range(1000)]
PLAIN_SIZE = 100
USER, PASSWORD = "bench", "bench-secret"


@dataclass(frozen=True, slots=True)
class Workload:
    """A load for one or several processes of one client."""

    operation: str
    """produce; or a way to read: iterate, batch, arrow, group (batch with commits)."""
    size: int = PLAIN_SIZE
    content: str = "plain"
    """plain, keys, headers, callbacks."""
    codec: str = "none"
    partitions: int = 1
    security: str = "plaintext"
    """plaintext, tls, sasl."""
    processes: int = 1
    settings: str = "defaults"
    """defaults or tuned: 1 MB batches, 16 MB fetches."""
    batches: str = ""
    """Size of the batches that are read: "16 KB", "1 record"; empty for those of the writer."""
    client: str = "barnabas"

    def of_client(self, client: str) -> Self:
        return replace(self, client=client)

    @property
    def name(self) -> str:
        """The cell: its differences from a plain load of one process on one partition."""
        parts = [self.operation, f"{self.size} B"]
        parts += [part for part in (self.content, self.codec) if part not in ("plain", "none")]
        parts += [f"{self.partitions} partitions"] if self.partitions > 1 else []
        parts += [self.security] if self.security != "plaintext" else []
        parts += [f"{self.processes} processes"] if self.processes > 1 else []
        parts += [f"batches of {self.batches}"] if self.batches else []
        return ", ".join([*parts, self.settings])

    @property
    def varied(self) -> bool:
        """Whether the values differ: a codec would compress equal ones to almost nothing."""
        return self.codec != "none"

    @property
    def tuned(self) -> bool:
        return self.settings == "tuned"


@dataclass(frozen=True, slots=True)
class Job:
    """A workload with its place: the command line argument of a client's process."""

    workload: Workload
    address: str
    ca_file: str
    topic: str
    count: int

    def to_text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Self:
        fields: dict[str, Any] = json.loads(text)
        return cls(**{**fields, "workload": Workload(**fields["workload"])})

    @property
    def librdkafka_security(self) -> dict[str, str]:
        """The configuration of confluent-kafka, which our clients accept too."""
        if self.workload.security == "tls":
            return {"security.protocol": "SSL", "ssl.ca.location": self.ca_file}
        if self.workload.security == "sasl":
            return {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "PLAIN",
                "sasl.username": USER,
                "sasl.password": PASSWORD,
            }
        return {}


def value_of(size: int) -> bytes:
    """Returns text as in a JSON document."""
    words = b'{"id": 123456, "name": "customer", "amount": 17.25, "paid": true, "items": [1, 2]}'
    return (words * (size // len(words) + 1))[:size]


def varied_values(size: int, count: int = 1000) -> list[bytes]:
    """Returns different texts of this size, which codecs compress to about a third."""
    source = random.Random(1)
    names = ("customer", "order", "payment", "shipment", "invoice", "refund")
    values = []
    for _ in range(count):
        text = ""
        while len(text) < size:
            number, name = source.randrange(10**6), source.choice(names)
            text += f'{{"id": {number}, "kind": "{name}", "amount": {source.random():.4f}}}'
        values.append(text[:size].encode())
    return values


def on_delivery(first: object, second: object) -> None:
    """The callback of the content `callbacks`: all clients call it with two arguments."""
