"""Base classes of the generated messages.

A generated class has slots, one per field for all versions, and two tables of functions by
version. Decoding raises ProtocolError and nothing else; encoding a value that does not fit its
field raises LocalError that names the field.
"""

import struct
from collections.abc import Callable, Mapping, Sized
from typing import Any, ClassVar, Generic, Self, TypeAlias, TypeVar

from barnabas.model.errors import LocalError, ProtocolError
from barnabas.wire.primitives import MAX_STRING, Part

FieldSpecs: TypeAlias = tuple[tuple[str, str, int, int, bool], ...]
"""Name, type, first version, last version and nullability (in any version) of each field."""


# Decoded objects need more memory than their bytes: a request may claim millions of elements.
_BASE_BUDGET = 1 << 20
_BUDGET_PER_BYTE = 32
_MAX_BUDGET = 256 << 20
_INTEGER_BITS = {
    "int8": (-(1 << 7), (1 << 7) - 1),
    "int16": (-(1 << 15), (1 << 15) - 1),
    "uint16": (0, (1 << 16) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1),
    "uint32": (0, (1 << 32) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
}
_ACCEPTED: dict[str, type | tuple[type, ...]] = {
    "bool": object,
    "float64": (int, float),
    "bytes": (bytes, bytearray, memoryview),
    "records": Sized,
}


def decoding_budget(size: int) -> int:
    """Returns the estimated memory that the objects of a message of `size` bytes may use.

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

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __repr__(self) -> str:
        fields = ", ".join(f"{spec[0]}={getattr(self, spec[0])!r}" for spec in self.FIELDS)
        return f"{type(self).__name__}({fields})"


class Message(WireStruct):
    """A request, a response or a stored record, encoded in one of several versions."""

    __slots__ = ()
    API_KEY: ClassVar[int] = -1
    MIN_VERSION: ClassVar[int]
    MAX_VERSION: ClassVar[int]
    FLEXIBLE_FROM: ClassVar[int]
    ENCODERS: ClassVar[Mapping[int, Callable[[Any], list[Part]]]]
    DECODERS: ClassVar[Mapping[int, Callable[[memoryview, int, int, list[int]], Any]]]

    def encode(self, version: int) -> list[Part]:
        """Returns the body in one version, without the fields that the version does not have."""
        encoder = self.ENCODERS.get(version)
        if encoder is None:
            raise LocalError(f"{type(self).__name__} has no version {version}")
        try:
            return encoder(self)
        except (struct.error, ValueError, TypeError, AttributeError, LocalError) as error:
            raise _explain_type_problem(self, version, error) from error

    @classmethod
    def decode(
        cls, view: memoryview, version: int, offset: int = 0, budget: int | None = None
    ) -> Self:
        """Reads a body. Bytes after it are ignored: librdkafka's Metadata requests have some.

        `budget` limits the estimated memory of the decoded objects; the default is proportional to
        the size of the view (`decoding_budget`). Raises DecodingBudgetError above the limit.
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


ResponseT = TypeVar("ResponseT", bound=Message)
ResponseT_co = TypeVar("ResponseT_co", bound=Message, covariant=True)


class Request(Message, Generic[ResponseT_co]):
    """A request whose response has a known class, so that `send(request)` has a known type."""

    __slots__ = ()


def _explain_type_problem(message: Message, version: int, error: Exception) -> LocalError:
    """Returns a LocalError with the path of the first field whose value does not fit.

    Generated encoders do not check types: a value that does not fit causes an exception of struct
    or an AttributeError. Only then this function searches the message for the field.
    """
    name = type(message).__name__
    problem = _struct_problem(message, name, version)
    return LocalError(problem or f"{name} v{version} cannot be encoded: {error}")


def _struct_problem(value: WireStruct, path: str, version: int) -> str | None:
    for name, type_name, low, high, nullable in value.FIELDS:
        if low <= version <= high:
            where = f"{path}.{name}"
            problem = _type_problem(getattr(value, name), type_name, nullable, where, version)
            if problem:
                return problem
    return None


def _type_problem(
    value: object, type_name: str, nullable: bool, where: str, version: int
) -> str | None:
    if value is None:
        return None if nullable else f"{where} must not be None"
    if type_name.startswith("["):
        return _array_problem(value, type_name[1:-1], where, version)
    if isinstance(value, WireStruct):
        return _struct_problem(value, where, version)
    return _scalar_problem(value, type_name, where)


def _array_problem(value: object, element: str, where: str, version: int) -> str | None:
    if not isinstance(value, list | tuple):
        return f"{where} takes a list, not {type(value).__name__}"
    for index, item in enumerate(value):
        problem = _type_problem(item, element, False, f"{where}[{index}]", version)
        if problem:
            return problem
    return None


def _scalar_problem(value: object, type_name: str, where: str) -> str | None:
    if type_name in _INTEGER_BITS:
        return _integer_problem(value, type_name, where)
    if type_name == "string":
        return _string_problem(value, where)
    if type_name == "uuid":
        fits = isinstance(value, bytes) and len(value) == 16
    else:
        fits = isinstance(value, _ACCEPTED.get(type_name, WireStruct))
    return None if fits else f"{where} takes {type_name}, not {value!r:.80}"


def _integer_problem(value: object, type_name: str, where: str) -> str | None:
    low, high = _INTEGER_BITS[type_name]
    if not isinstance(value, int):
        return f"{where} takes {type_name}, not {value!r:.80}"
    return None if low <= value <= high else f"{where} takes {type_name}, {value} does not fit"


def _string_problem(value: object, where: str) -> str | None:
    if not isinstance(value, str):
        return f"{where} takes string, not {value!r:.80}"
    try:
        length = len(value.encode())
    except UnicodeEncodeError:
        return f"{where} has characters that cannot be encoded in UTF-8"
    return (
        None if length <= MAX_STRING else f"{where} has {length} bytes, the maximum is {MAX_STRING}"
    )
