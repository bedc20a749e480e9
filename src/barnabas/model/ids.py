"""Typed identifiers: brokers, topics, producers."""

import base64
import operator
from typing import NamedTuple, NewType, Self, SupportsIndex

BrokerId = NewType("BrokerId", int)
ProducerId = NewType("ProducerId", int)

NO_BROKER = BrokerId(-1)
NO_PRODUCER_ID = ProducerId(-1)


class Uuid(bytes):
    """Sixteen raw bytes, printed as Kafka prints them: 22 characters of unpadded base64url.

    A subclass of bytes so that the wire codec makes one from a slice and dictionaries hash it
    at C speed. All zeros means "absent" everywhere in the protocol.

    >>> Uuid.parse("AAAAAAAAAAAAAAAAAAAAAQ").hex()[-2:]
    '01'
    """

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the 22-character form; ValueError says what was wrong with anything else."""
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        if len(raw) != 16:
            raise ValueError(f"a uuid has 16 bytes, {text!r} has {len(raw)}")
        return cls(raw)

    def __str__(self) -> str:
        return base64.urlsafe_b64encode(self).rstrip(b"=").decode("ascii")

    def __repr__(self) -> str:
        return f"Uuid({str(self)!r})"


ZERO_UUID = Uuid(16)


class TopicPartition(NamedTuple):
    """One partition of one topic, by name."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


def as_topic_partition(place: object) -> TopicPartition:
    """What a caller names as a partition: a TopicPartition, or the same as a plain pair."""
    match place:
        case (str(topic), number) if isinstance(number, SupportsIndex):
            return TopicPartition(topic, operator.index(number))
    raise TypeError(f"a partition is written TopicPartition('orders', 0), not {place!r}")


class TopicIdPartition(NamedTuple):
    """One partition of one incarnation of a topic."""

    topic_id: Uuid
    topic: str
    partition: int

    @property
    def topic_partition(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)
