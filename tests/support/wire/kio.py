"""Our messages as kio's, to compare bytes: kio has one class per version and richer value types.

It turns error codes into an enum, `*_ms` into timedelta (and drops the suffix), some timestamps
into datetime, the zero uuid into None, and lists into tuples.
"""

import dataclasses
import datetime
import uuid
from io import BytesIO

from hypothesis import strategies as st
from kio.index import load_entity_schema
from kio.schema.errors import ErrorCode
from kio.schema.index import schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.static.constants import EntityType
from support.wire.schemas import Case, scalars

from barnabas.model.ids import ZERO_UUID
from codegen.layout import Slot

_KINDS = {
    "request": EntityType.request,
    "response": EntityType.response,
    "fields": EntityType.data,
}
_NAMES = {"control_record_type": "control_record_type_schema"}
_EPOCH = datetime.datetime.fromtimestamp(0, datetime.UTC)


def is_in_kio(subject: Case) -> bool:
    """Whether kio has a class of that message and version; does not import the class's module."""
    versions = schema_name_map.get(_name(subject), {})
    return _KINDS[subject.message.kind] in versions.get(subject.version, {})


def kio_class(subject: Case):
    """Returns kio's class of that message and version."""
    return load_entity_schema(_name(subject), subject.version, _KINDS[subject.message.kind])


def _name(subject: Case) -> str:
    return _NAMES.get(subject.schema.stem, subject.schema.stem)


def kio_bytes(instance) -> bytes:
    buffer = BytesIO()
    entity_writer(type(instance))(buffer, instance)
    return buffer.getvalue()


def kio_decode(cls, data: bytes):
    instance, size = entity_reader(cls)(data, 0)
    assert size == len(data)
    return instance


def to_kio(layout, instance, cls):
    """The same message as an instance of kio's class."""
    slots = {slot.field.name: slot for slot in (*layout.slots, *layout.tagged)}
    values = {}
    for theirs in dataclasses.fields(cls):
        slot = _slot_of(theirs, slots)
        values[theirs.name] = _value(slot, getattr(instance, slot.field.name), theirs)
    assert not slots, f"{cls.__name__} lacks {sorted(slots)}"
    return cls(**values)


def _slot_of(theirs, slots) -> Slot:
    for name in (theirs.name, f"{theirs.name}_ms", theirs.name.rstrip("_")):
        if name in slots:
            return slots.pop(name)
    raise AssertionError(f"no field of ours is {theirs.name}")


def _value(slot: Slot, value, theirs):
    if slot.nested is not None:
        return _struct_value(slot, value, theirs)
    kind = theirs.metadata.get("kafka_type", "")
    if slot.field.is_array:
        return None if value is None else tuple(_scalar(item, kind) for item in value)
    return _scalar(value, kind)


def _struct_value(slot: Slot, value, theirs):
    cls = _nested_class(theirs.type)
    if slot.field.is_array:
        return None if value is None else tuple(to_kio(slot.nested, item, cls) for item in value)
    if value is None and slot.field.tag is not None and not slot.nullable:
        return cls()
    return None if value is None else to_kio(slot.nested, value, cls)


def _nested_class(annotation):
    """The dataclass in X, X | None, tuple[X, ...] or tuple[X, ...] | None."""
    if dataclasses.is_dataclass(annotation):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        found = _nested_class(inner)
        if found is not None:
            return found
    return None


def _scalar(value, kind: str):
    if value is None:
        return None
    if kind == "uuid":
        return None if value == ZERO_UUID else uuid.UUID(bytes=bytes(value))
    if kind == "error_code":
        return ErrorCode(value)
    if kind.startswith("timedelta"):
        return datetime.timedelta(milliseconds=value)
    if kind.startswith("datetime"):
        return None if value == -1 else _EPOCH + datetime.timedelta(milliseconds=value)
    return value


def kio_values(cls):
    """A scalar strategy narrowed to what kio's types can hold."""
    kinds = _kinds(cls)

    def values(field):
        kind = kinds.get(field.name) or kinds.get(field.name.removesuffix("_ms"), "")
        if kind == "error_code":
            return st.sampled_from([code.value for code in ErrorCode])
        if kind == "timedelta_i64":
            return st.integers(-(10**14), 10**13)
        if kind == "datetime_i64":
            return st.integers(0, 10**9).map(lambda seconds: seconds * 1000)
        return scalars(field)

    return values


def _kinds(cls) -> dict[str, str]:
    found = {}
    for theirs in dataclasses.fields(cls):
        found[theirs.name] = theirs.metadata.get("kafka_type", "")
        nested = _nested_class(theirs.type)
        if nested is not None:
            found |= {name: kind for name, kind in _kinds(nested).items() if name not in found}
    return found
