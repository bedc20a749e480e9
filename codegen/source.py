"""Helpers of the emitters: indented lines, struct formats, Python types and defaults."""

from collections.abc import Iterator
from contextlib import contextmanager

from codegen.model import FIXED, Field

_FORMAT_LETTERS = {"?": "t", "16s": "u"}
_PYTHON_TYPES = {
    "bool": "bool",
    "float64": "float",
    "uuid": "Uuid",
    "string": "str",
    "bytes": "bytes",
    "records": "Records",
}


class Lines:
    """Source text under construction."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self._indent = 0

    def add(self, line: str = "") -> None:
        self.text.append("    " * self._indent + line if line else "")

    @contextmanager
    def indented(self, opening: str) -> Iterator[None]:
        """Adds a line that opens a block, and indents the lines added inside the context."""
        self.add(opening)
        self._indent += 1
        yield
        self._indent -= 1


class Formats:
    """The struct formats that a module needs, each with a readable name."""

    def __init__(self) -> None:
        self.packers: dict[str, str] = {}
        self.unpackers: dict[str, str] = {}

    def pack(self, codes: list[str]) -> str:
        return self._name(self.packers, "_pack_", codes)

    def unpack(self, codes: list[str]) -> str:
        return self._name(self.unpackers, "_unpack_", codes)

    @staticmethod
    def _name(names: dict[str, str], prefix: str, codes: list[str]) -> str:
        letters = "".join(_FORMAT_LETTERS.get(code, code) for code in codes)
        return names.setdefault("".join(codes), prefix + letters)


def snake(name: str) -> str:
    """FetchPartition -> fetch_partition."""
    letters = [f"_{c.lower()}" if c.isupper() else c for c in name]
    return "".join(letters).lstrip("_")


def element_type(field: Field) -> str:
    """Returns the Python type of the field, or of one element of an array."""
    if field.is_struct:
        return field.type
    return _PYTHON_TYPES.get(field.type, "int")


def attribute_type(field: Field) -> str:
    """Returns the Python type of the attribute."""
    base = element_type(field)
    if field.is_array:
        base = f"list[{base}]"
    can_be_none = field.nullable is not None or (field.is_struct and field.tag is not None)
    if field.is_array:
        can_be_none = field.nullable is not None
    if can_be_none and base != "Records":
        return f"{base} | None"
    return base


def default_value(field: Field) -> str:
    """Returns the Python expression of the default.

    An absent tagged struct is None instead of a struct of defaults: three such structs per
    partition would cost more than the rest of a fetch response.
    """
    if field.default is not None and field.default != "null":
        return {"true": "True", "false": "False"}.get(field.default, field.default)
    if field.default == "null" or field.type == "records":
        return "None"
    if field.is_array:
        return "[]"
    if field.is_struct:
        return "None" if field.tag is not None or field.nullable is not None else f"{field.type}()"
    zero = {"bool": "False", "float64": "0.0", "uuid": "ZERO_UUID", "string": '""', "bytes": 'b""'}
    return zero.get(field.type, "0")


def type_label(field: Field) -> str:
    """Returns the name of the type in error messages."""
    return f"[{field.type}]" if field.is_array else field.type


def is_fixed(field: Field) -> bool:
    return field.type in FIXED and not field.is_array
