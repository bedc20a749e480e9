"""Types of `Record`, which is generic for type checkers only: a compiled class cannot be."""

from typing import Any, Generic

from typing_extensions import TypeVar

from barnabas.model.records import Header, TimestampType

COMPILED: bool

K = TypeVar("K", default=Any)
V = TypeVar("V", default=Any)

class Record(Generic[K, V]):
    """A record as a consumer gets it: see `_record_hot.py`."""

    def __init__(
        self,
        topic: str,
        partition: int,
        offset: int,
        timestamp: int = ...,
        timestamp_type: TimestampType = ...,
        key: K = ...,
        value: V = ...,
        headers: tuple[Header, ...] = ...,
        leader_epoch: int = ...,
    ) -> None: ...
    @property
    def topic(self) -> str: ...
    @property
    def partition(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def timestamp(self) -> int: ...
    @property
    def timestamp_type(self) -> TimestampType: ...
    @property
    def key(self) -> K: ...
    @property
    def value(self) -> V: ...
    @property
    def headers(self) -> tuple[Header, ...]: ...
    @property
    def leader_epoch(self) -> int: ...
    def replace(self, key: Any, value: Any) -> Record[Any, Any]: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
