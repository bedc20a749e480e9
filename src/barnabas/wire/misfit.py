"""Finds the field that made an encoder fail.

Generated encoders do not check types: a value that does not fit surfaces as an exception of
struct or of a method that is not there. Only then this walks the message to name the culprit.
"""

from collections.abc import Sized

from barnabas.model.errors import LocalError
from barnabas.wire.message import Message, WireStruct
from barnabas.wire.primitives import MAX_STRING

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


def explain_misfit(message: Message, version: int, error: Exception) -> LocalError:
    """A LocalError with the path of the first field that does not fit, or with what was seen."""
    name = type(message).__name__
    problem = _misfit_of_struct(message, name, version)
    return LocalError(problem or f"{name} v{version} cannot be encoded: {error}")


def _misfit_of_struct(value: WireStruct, path: str, version: int) -> str | None:
    for name, type_name, low, high, nullable in value.FIELDS:
        if low <= version <= high:
            where = f"{path}.{name}"
            problem = _misfit(getattr(value, name), type_name, nullable, where, version)
            if problem:
                return problem
    return None


def _misfit(value: object, type_name: str, nullable: bool, where: str, version: int) -> str | None:
    if value is None:
        return None if nullable else f"{where} must not be None"
    if type_name.startswith("["):
        return _misfit_of_array(value, type_name[1:-1], where, version)
    if isinstance(value, WireStruct):
        return _misfit_of_struct(value, where, version)
    return _misfit_of_scalar(value, type_name, where)


def _misfit_of_array(value: object, element: str, where: str, version: int) -> str | None:
    if not isinstance(value, list | tuple):
        return f"{where} takes a list, not {type(value).__name__}"
    for index, item in enumerate(value):
        problem = _misfit(item, element, False, f"{where}[{index}]", version)
        if problem:
            return problem
    return None


def _misfit_of_scalar(value: object, type_name: str, where: str) -> str | None:
    if type_name in _INTEGER_BITS:
        return _misfit_of_integer(value, type_name, where)
    if type_name == "string":
        return _misfit_of_string(value, where)
    if type_name == "uuid":
        fits = isinstance(value, bytes) and len(value) == 16
    else:
        fits = isinstance(value, _ACCEPTED.get(type_name, WireStruct))
    return None if fits else f"{where} takes {type_name}, not {value!r:.80}"


def _misfit_of_integer(value: object, type_name: str, where: str) -> str | None:
    low, high = _INTEGER_BITS[type_name]
    if not isinstance(value, int):
        return f"{where} takes {type_name}, not {value!r:.80}"
    return None if low <= value <= high else f"{where} takes {type_name}, {value} does not fit"


def _misfit_of_string(value: object, where: str) -> str | None:
    if not isinstance(value, str):
        return f"{where} takes string, not {value!r:.80}"
    try:
        length = len(value.encode())
    except UnicodeEncodeError:
        return f"{where} has characters that UTF-8 cannot carry"
    return None if length <= MAX_STRING else f"{where} has {length} bytes, the most is {MAX_STRING}"
