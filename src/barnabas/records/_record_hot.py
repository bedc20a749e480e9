"""`Record`, which the decoder creates for each consumed record.

Compiled by Cython, with the C types of `_record_hot.pxd` (a `.pxd`, because the decoder in
`_records_hot` fills these structs from another module).
"""

from __future__ import annotations

from types import GenericAlias
from typing import Any

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

from barnabas.model.records import NO_EPOCH, NO_TIMESTAMP, Header, TimestampType

COMPILED: bool = cython.compiled

_CREATE_TIME = TimestampType.CREATE_TIME


@cython.final
@cython.no_gc
@cython.freelist(512)
@cython.cclass
class Record:
    """A record that a consumer returns. Immutable; equal to a record with equal fields.

    `key` and `value` are bytes or None, or the results of deserializers. `leader_epoch` is -1 if
    the batch has none. The garbage collector does not track records, because it would visit every
    record of a poll: a value must not refer to its own record.
    """

    __slots__ = (
        "_headers",
        "_key",
        "_leader_epoch",
        "_offset",
        "_partition",
        "_timestamp",
        "_timestamp_type",
        "_topic",
        "_value",
    )

    def __init__(  # noqa: PLR0913 - a record's fields; all but the first three have defaults
        self,
        topic: str,
        partition: int,
        offset: int,
        timestamp: int = NO_TIMESTAMP,
        timestamp_type: TimestampType = _CREATE_TIME,
        key: Any = None,
        value: Any = None,
        headers: tuple[Header, ...] = (),
        leader_epoch: int = NO_EPOCH,
    ) -> None:
        self._topic = topic
        self._partition = partition
        self._offset = offset
        self._timestamp = timestamp
        self._timestamp_type = timestamp_type
        self._key = key
        self._value = value
        self._headers = headers
        self._leader_epoch = leader_epoch

    @property
    def topic(self) -> str:
        return self._topic

    @property
    def partition(self) -> int:
        return self._partition

    @property
    def offset(self) -> int:
        return self._offset

    @property
    def timestamp(self) -> int:
        """Milliseconds since 1970, -1 if the record has none."""
        return self._timestamp

    @property
    def timestamp_type(self) -> TimestampType:
        return self._timestamp_type

    @property
    def key(self) -> Any:
        return self._key

    @property
    def value(self) -> Any:
        return self._value

    @property
    def headers(self) -> tuple[Header, ...]:
        return self._headers

    @property
    def leader_epoch(self) -> int:
        return self._leader_epoch

    def replace(self, key: Any, value: Any) -> Record:
        """Returns the same record with another key and value; for deserializers."""
        return Record(
            self._topic,
            self._partition,
            self._offset,
            self._timestamp,
            self._timestamp_type,
            key,
            value,
            self._headers,
            self._leader_epoch,
        )

    def _fields(self) -> tuple[Any, ...]:
        return (
            self._topic,
            self._partition,
            self._offset,
            self._timestamp,
            self._timestamp_type,
            self._key,
            self._value,
            self._headers,
            self._leader_epoch,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash((self._topic, self._partition, self._offset))

    @classmethod
    def __class_getitem__(cls, parameters: Any) -> GenericAlias:
        """Returns `Record[K, V]`, the types of key and value for type checkers."""
        return GenericAlias(cls, parameters)

    def __reduce__(self) -> tuple[type[Record], tuple[Any, ...]]:
        return (Record, self._fields())

    def __repr__(self) -> str:
        return (
            f"Record(topic={self._topic!r}, partition={self._partition}, offset={self._offset}, "
            f"timestamp={self._timestamp}, key={self._key!r}, value={self._value!r}, "
            f"headers={self._headers!r})"
        )
