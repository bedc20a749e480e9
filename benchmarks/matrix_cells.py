"""The cells of the matrix as data: axes around a plain load, the sides of each cell, and goals.

A cell varies one axis of the plain load (100-byte values, one partition, one process, no
security), for each operation, at default settings and tuned. It is measured in two comparisons:
`clients` (our clients beside others, all on our broker) and `brokers` (our broker beside the peer,
with the same client).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from benchmarks.workload import CODECS, PLAIN_SIZE, Workload

SIZES = (10, 100, 1_000, 10_000, 1_000_000)
CONTENTS = ("keys", "headers", "callbacks")
PARTITIONS = (10, 100, 1_000)
SECURITY = ("tls", "sasl")
PROCESSES = 8
SETTINGS = ("defaults", "tuned")
READS = ("iterate", "batch", "arrow")
BATCHES = ("16 KB", "1 record")
POLL = "barnabas poll"
"""Our `poll()` in the cell of another way to read."""

CLIENTS = ("confluent", "barnabas", "asyncio", "aiokafka", "kafka-python")
"""The first three are measured in the quick form."""
BROKER_CLIENTS = ("confluent", "barnabas")
"""Clients under which the brokers are compared in every cell; the plain cells have all."""

OURS = frozenset({"barnabas", "asyncio", POLL})

RECORDS = {10: 300_000, 100: 300_000, 1_000: 100_000, 10_000: 20_000, 1_000_000: 250}
SPEED = {"aiokafka": 0.1, "kafka-python": 0.05}
READ_SPEED = {"aiokafka": 0.5, "kafka-python": 0.25}
"""Share of the records that a slower client sends or reads, so that its turns take as long."""

SINGLE_RECORD_SHARE = 0.2
"""Share of the records in cells with batches of one record, as each is written by a request."""

QUICK = frozenset(
    {
        "produce, 100 B, defaults",
        "produce, 100 B, keys, defaults",
        "produce, 100 B, zstd, defaults",
        "iterate, 100 B, defaults",
        "batch, 100 B, defaults",
        "arrow, 100 B, defaults",
        "batch, 100 B, tuned",
    }
)
"""The cells of `make bench-quick`."""


@dataclass(frozen=True, slots=True)
class Goal:
    """The least ratio of one client's rate to another's in the same cell."""

    client: str
    beside: str
    least: float


@dataclass(frozen=True, slots=True)
class Cell:
    """One workload with the clients that are measured and the goals between them."""

    workload: Workload
    clients: tuple[str, ...]
    goals: tuple[Goal, ...] = ()

    @property
    def name(self) -> str:
        return self.workload.name

    @property
    def quick(self) -> bool:
        return self.name in QUICK

    def records(self, client: str) -> int:
        """Records of one turn, by all processes together."""
        load = self.workload
        speed = SPEED if load.operation == "produce" else READ_SPEED
        more = 1.0
        if load.tuned and load.operation != "produce":
            more = 5.0  # fetches of 16 MB: the first of them does not count
        elif load.operation in ("batch", "arrow"):
            more = 3.0  # some million records a second
        if client in OURS and load.operation in READS and not load.tuned:
            # A turn must be much longer than its first responses.
            more *= 4.0 if load.size <= PLAIN_SIZE else 2.0
        if load.batches == "1 record":
            more *= SINGLE_RECORD_SHARE
        return max(int(RECORDS[load.size] * more * speed.get(client, 1.0)), 100)


def workloads() -> Iterator[Workload]:
    """All loads, each once."""
    for settings in SETTINGS:
        for operation in ("produce", *READS, "group"):
            plain = Workload(operation, settings=settings)
            if operation == "group":
                yield replace(plain, partitions=10)
                continue
            yield from (replace(plain, size=size) for size in SIZES)
            if operation == "arrow":
                yield from (replace(plain, codec=codec) for codec in CODECS)
                yield from _arrow_batches(plain)
                continue
            contents = CONTENTS if operation == "produce" else CONTENTS[:2]
            yield from (replace(plain, content=content) for content in contents)
            yield from (replace(plain, codec=codec) for codec in CODECS)
            if operation == "iterate":
                continue  # the remaining axes do not depend on how records are handed over
            yield from (replace(plain, partitions=count) for count in PARTITIONS)
            yield from (replace(plain, security=security) for security in SECURITY)
            yield replace(plain, partitions=PROCESSES, processes=PROCESSES)


def _arrow_batches(plain: Workload) -> Iterator[Workload]:
    """Batches of Java producers at their defaults with each codec, and batches of one record."""
    for codec in ("none", *CODECS):
        yield replace(plain, codec=codec, batches="16 KB")
    yield replace(plain, batches="1 record")


def client_cells() -> list[Cell]:
    """The cells in which clients are compared on our broker."""
    return [Cell(load, _clients(load), _goals(load)) for load in workloads()]


def broker_cells() -> list[Cell]:
    """The cells in which brokers are compared under the same clients."""
    loads = [load for load in workloads() if load.operation in ("produce", "batch", "group")]
    return [Cell(load, CLIENTS if _is_plain(load) else BROKER_CLIENTS) for load in loads]


def short_clients(cell: Cell) -> tuple[str, ...]:
    """The clients of a cell in a short run (`--short`), which has all cells but fewer clients.

    confluent-kafka and our blocking client are in every cell. asyncio is where values differ in
    size only, aiokafka where it has a goal of eight times, and kafka-python in the plain cells.
    """
    load, kept = cell.workload, {"confluent", "barnabas", POLL}
    if not load.tuned and _is_plain(replace(load, size=100, partitions=1)):
        kept.add("asyncio")
        if load.operation == "produce" and load.size <= 1_000:
            kept.add("aiokafka")
        if load.size == PLAIN_SIZE:
            kept |= {"aiokafka", "kafka-python"}
    return tuple(name for name in cell.clients if name in kept)


def _is_plain(load: Workload) -> bool:
    return load == Workload(load.operation, settings=load.settings)


def _clients(load: Workload) -> tuple[str, ...]:
    if load.operation == "arrow":
        return ("barnabas", POLL)
    if load.operation == "iterate" and _is_plain(load):
        return (*CLIENTS, POLL)
    if load.processes > 1 or load.partitions > 100:
        return ("confluent", "barnabas", "asyncio")
    return CLIENTS


def _goals(load: Workload) -> tuple[Goal, ...]:
    if load.operation == "arrow":
        return (Goal("barnabas", POLL, 1.2 if load.batches == "1 record" else 2.0),)
    least = {"produce": _produce_goal(load), "iterate": 2.0, "batch": 2.5, "group": 1.0}
    if load.tuned:
        least = dict.fromkeys(least, 1.0)
    goals = [Goal("barnabas", "confluent", least[load.operation])]
    if load.operation == "produce" and "aiokafka" in _clients(load) and not load.tuned:
        goals.append(Goal("barnabas", "aiokafka", 8.0 if load.size <= 1_000 else 1.0))
    goals.append(Goal("asyncio", "barnabas", 0.8))
    if POLL in _clients(load):
        goals.append(Goal("barnabas", POLL, 0.8))
    return tuple(goals)


def _produce_goal(load: Workload) -> float:
    plain = _is_plain(replace(load, size=100))
    return 1.5 if plain and load.size <= 1_000 else 1.0
