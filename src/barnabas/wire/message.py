"""Base classes of the generated messages.

A generated class has slots, one per field for all versions, and two tables of functions by
version. Decoding raises ProtocolError and nothing else; encoding a value that does not fit its
field raises LocalError that names the field.
"""

import struct
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, TypeAlias

from barnabas.model.errors import LocalError, ProtocolError
from barnabas.wire.primitives import Part

FieldSpecs: TypeAlias = tuple[tuple[str, str, int, int, bool], ...]
"""Name, type, first and last version, and whether null is ever allowed, of each field."""


_BASE_BUDGET = 1 << 20
_BUDGET_PER_BYTE = 32
_MAX_BUDGET = 256 << 20


def decoding_budget(size: int) -> int:
    """Bytes of memory that the objects of a message of `size` bytes may take, by estimate.

    Ordinary messages need 5 to 20 bytes for each byte on the wire; hostile ones, with millions of
    empty strings or arrays, need 60 and more.
    """
    return min(_BASE_BUDGET + _BUDGET_PER_BYTE * size, _MAX_BUDGET)


class WireStruct:
    """A group of fields; compares by value and prints its fields."""

    __slots__ = ()
    FIELDS: ClassVar[FieldSpecs] = ()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, spec[0]) == getattr(other, spec[0]) for spec in self.FIELDS)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        fields = ", ".join(f"{spec[0]}={getattr(self, spec[0])!r}" for spec in self.FIELDS)
        return f"{type(self).__name__}({fields})"


class Message(WireStruct):
    """A request, a response or a stored record: something with versions of its own."""

    __slots__ = ()
    API_KEY: ClassVar[int] = -1
    MIN_VERSION: ClassVar[int]
    MAX_VERSION: ClassVar[int]
    FLEXIBLE_FROM: ClassVar[int]
    ENCODERS: ClassVar[Mapping[int, Callable[[Any], list[Part]]]]
    DECODERS: ClassVar[Mapping[int, Callable[[memoryview, int, int, list[int]], Any]]]

    def encode(self, version: int) -> list[Part]:
        """The body in one version. Fields that the version does not have are left out."""
        encoder = self.ENCODERS.get(version)
        if encoder is None:
            raise LocalError(f"{type(self).__name__} has no version {version}")
        try:
            return encoder(self)
        except (struct.error, ValueError, TypeError, AttributeError, LocalError) as error:
            from barnabas.wire.misfit import explain_misfit

            raise explain_misfit(self, version, error) from error

    @classmethod
    def decode(
        cls, view: memoryview, version: int, offset: int = 0, budget: int | None = None
    ) -> Self:
        """Read a body. Bytes after it are tolerated, as librdkafka's Metadata requests need.

        `budget` bounds the estimated memory of the decoded objects, by default in proportion to
        the size of the view (`decoding_budget`); DecodingBudgetError when it is not enough.
        """
        decoder = cls.DECODERS.get(version)
        if decoder is None:
            raise ProtocolError(f"{cls.__name__} has no version {version}")
        try:
            size = len(view)
            if budget is None:
                budget = decoding_budget(size)
            message: Self = decoder(memoryview(view), offset, size, [budget])
        except (struct.error, IndexError, UnicodeDecodeError) as error:
            raise ProtocolError(f"{cls.__name__} v{version}: {error}") from error
        except ProtocolError as error:
            raise type(error)(f"{cls.__name__} v{version}: {error}") from None
        return message
