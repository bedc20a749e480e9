"""Typed identifiers of brokers, topics, partitions and producers; the names of topics.

Paths on disk and in the metadata tree contain only validated topic names, so `topic_name_problem`
also excludes `..` and `/` from both.
"""

import base64
import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, NewType, Self, SupportsIndex

BrokerId = NewType("BrokerId", int)
ProducerId = NewType("ProducerId", int)

NO_BROKER = BrokerId(-1)
NO_PRODUCER_ID = ProducerId(-1)
Replicas = tuple[BrokerId, ...]


class Uuid(bytes):
    """A UUID of 16 bytes; its text form is Kafka's: 22 characters of unpadded base64url.

    It is a subclass of bytes so that the wire codec can create one from a slice and hashing runs
    at C speed. All zeros means "absent" everywhere in the protocol.

    >>> Uuid.parse("AAAAAAAAAAAAAAAAAAAAAQ").hex()[-2:]
    '01'
    """

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parses the 22-character form; raises ValueError if the text is not a UUID."""
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        if len(raw) != 16:
            raise ValueError(f"a uuid has 16 bytes, {text!r} has {len(raw)}")
        return cls(raw)

    @classmethod
    def random(cls, random_bytes: Callable[[int], bytes]) -> Self:
        """Returns a new UUID; `random_bytes(count)` is, for instance, `secrets.token_bytes`.

        As in Kafka, its text does not begin with a hyphen: tools take such an argument for an
        option.
        """
        while True:
            found = cls(random_bytes(16))
            if not str(found).startswith("-"):
                return found

    def __str__(self) -> str:
        return base64.urlsafe_b64encode(self).rstrip(b"=").decode("ascii")

    def __repr__(self) -> str:
        return f"Uuid({str(self)!r})"


ZERO_UUID = Uuid(16)


class TopicPartition(NamedTuple):
    """One partition of one topic, by name.

    >>> str(TopicPartition("orders", 0))
    'orders-0'
    """

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


def by_topic(topic_partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Groups partition numbers by topic, in the given order.

    >>> by_topic([TopicPartition("a", 1), TopicPartition("b", 0), TopicPartition("a", 0)])
    {'a': [1, 0], 'b': [0]}
    """
    topics: dict[str, list[int]] = {}
    for topic, partition in topic_partitions:
        topics.setdefault(topic, []).append(partition)
    return topics


def as_topic_partition(value: object) -> TopicPartition:
    """Returns a TopicPartition for a TopicPartition or a (topic, partition) pair."""
    match value:
        case (str(topic), number) if isinstance(number, SupportsIndex):
            return TopicPartition(topic, operator.index(number))
    raise TypeError(f"expected a TopicPartition such as TopicPartition('orders', 0), got {value!r}")


@dataclass(frozen=True, slots=True)
class ReplicaAssignment:
    """The replicas of one partition, the preferred leader first.

    `adding` and `removing` are set during a reassignment (KIP-455); `replicas` is then the union of
    `target` and `origin`.
    """

    replicas: Replicas
    adding: Replicas = ()
    removing: Replicas = ()

    @property
    def is_reassigning(self) -> bool:
        return bool(self.adding or self.removing)

    @property
    def target(self) -> Replicas:
        """The replicas after the reassignment."""
        return tuple(r for r in self.replicas if r not in self.removing)

    @property
    def origin(self) -> Replicas:
        """The replicas before the reassignment, and after its cancellation."""
        return tuple(r for r in self.replicas if r not in self.adding)


# --- Topic names ----------------------------------------------------------------------------------


# Kafka's limit: a directory has the name and a partition number, at most 255 characters.
MAX_NAME_LENGTH = 249
OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTIONS_TOPIC = "__transaction_state"
INTERNAL_TOPICS = frozenset({OFFSETS_TOPIC, TRANSACTIONS_TOPIC})

_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")


def topic_name_problem(name: str) -> str | None:
    """Returns why `name` is not a valid topic name, or None if it is valid.

    >>> topic_name_problem("orders")
    >>> topic_name_problem("..")
    "a topic cannot be named '.' or '..'"
    """
    if not name:
        return "a topic name cannot be empty"
    if name in (".", ".."):
        return "a topic cannot be named '.' or '..'"
    if len(name) > MAX_NAME_LENGTH:
        return f"a topic name has at most {MAX_NAME_LENGTH} characters, this one has {len(name)}"
    if _LEGAL.fullmatch(name) is None:
        return f"topic name {name!r} has characters other than ASCII letters, digits, '.', '_', '-'"
    return None


def collides(name: str, other: str) -> bool:
    """Whether two names differ only in '.' and '_', which are the same in metric names."""
    return name != other and name.replace(".", "_") == other.replace(".", "_")
