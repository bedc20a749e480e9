"""Our messages as kafka-python's, to compare bytes.

kafka-python builds one class per message from schemas of its own; the uuid module's UUID stands
for a uuid, None for the zero one.
"""

import uuid
import warnings
from functools import cache
from importlib import import_module

from support.wire.schemas import Case

from barnabas.model.ids import ZERO_UUID

_MODULES = (
    "admin.acl",
    "admin.client_quotas",
    "admin.cluster",
    "admin.configs",
    "admin.groups",
    "admin.topics",
    "admin.transactions",
    "admin.users",
    "consumer.fetch",
    "consumer.group",
    "consumer.metadata",
    "consumer.offsets",
    "metadata.api_versions",
    "metadata.find_coordinator",
    "metadata.metadata",
    "producer.produce",
    "producer.transaction",
    "sasl",
)


@cache
def _load(module: str):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # its way to find its resources
        return import_module(f"kafka.protocol.{module}")


def maybe_kafka_python_class(subject: Case):
    """kafka-python's class of that message, or None."""
    name = subject.message.body.name
    for module in _MODULES:
        found = getattr(_load(module), name, None)
        if found is not None and subject.version <= found.max_version:
            return found
    return None


def kafka_python_bytes(subject: Case, instance) -> bytes:
    if subject.message.kind == "fields":
        return instance.encode(version=subject.version, header=False)
    return bytes(instance.encode(version=subject.version))


def kafka_python_decode(subject: Case, cls, data: bytes):
    if subject.message.kind == "fields":
        return cls.decode(data, version=subject.version, header=False)
    return cls.decode(data, version=subject.version)


def to_kafka_python(layout, instance, cls, version: int):
    """The same message as an instance of kafka-python's class."""
    values = {}
    for slot in (*layout.slots, *layout.tagged):
        theirs = _field_of(cls, slot.field.name)
        value = getattr(instance, slot.field.name)
        if slot.nested is not None:
            nested = getattr(cls, theirs.type_str.strip("[]"))
            value = _struct_value(slot, value, nested, version)
        elif slot.field.type == "uuid":
            value = None if value == ZERO_UUID else uuid.UUID(bytes=bytes(value))
        elif theirs.type_str == "bitfield":
            bits = {bit for bit in range(32) if value >> bit & 1}
            value = None if bits == {31} else bits
        values[theirs.name] = value
    return cls(version=version, **values)


def _field_of(cls, name: str):
    """It shortens the names of all bit sets of authorized operations."""
    fields = cls._struct.fields
    return fields[name] if name in fields else fields["authorized_operations"]


def _struct_value(slot, value, cls, version: int):
    if value is None:
        return None
    if slot.field.is_array:
        return [to_kafka_python(slot.nested, item, cls, version) for item in value]
    return to_kafka_python(slot.nested, value, cls, version)
