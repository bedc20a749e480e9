"""Every declared message as test material: its class, its layouts, and instances of it."""

from dataclasses import dataclass
from functools import cache
from importlib import import_module

from hypothesis import strategies as st

from barnabas.model.ids import ZERO_UUID, Uuid
from codegen.__main__ import SCHEMAS
from codegen.grammar import parse_file
from codegen.layout import Layout, Slot, resolve
from codegen.model import Field, MessageDecl, Schema

MAX_ELEMENTS = 3

INTEGERS = {
    "int8": (-(1 << 7), (1 << 7) - 1),
    "int16": (-(1 << 15), (1 << 15) - 1),
    "uint16": (0, (1 << 16) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1),
    "uint32": (0, (1 << 32) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
}


@dataclass(frozen=True)
class Case:
    """One version of one message."""

    schema: Schema
    message: MessageDecl
    version: int

    @property
    def name(self):
        return f"{self.message.body.name}-v{self.version}"

    @property
    def cls(self):
        return struct_class(self.schema.stem, self.message.body.name)

    @property
    def layout(self) -> Layout:
        return resolve(self.schema, self.message, self.message.body, self.version)

    def __hash__(self):
        return hash(self.name)


@cache
def struct_class(stem, name):
    return getattr(import_module(f"barnabas.wire.messages.{stem}"), name)


@cache
def all_cases() -> tuple[Case, ...]:
    schemas = [parse_file(path) for path in sorted(SCHEMAS.glob("*.msg"))]
    return tuple(
        Case(schema, message, version)
        for schema in schemas
        for message in schema.messages
        for version in message.versions
    )


def case(name: str, version: int) -> Case:
    """The one case of that message and version."""
    (found,) = (c for c in all_cases() if c.message.body.name == name and c.version == version)
    return found


def scalars(field: Field):
    """Values of a primitive field, or of one element of it."""
    type_name = field.type
    if type_name in INTEGERS:
        low, high = INTEGERS[type_name]
        return st.integers(low, high)
    return {
        "bool": st.booleans(),
        "float64": st.floats(allow_nan=False),
        "uuid": st.one_of(st.just(ZERO_UUID), st.binary(min_size=16, max_size=16).map(Uuid)),
        "string": st.text(max_size=8),
        "bytes": st.binary(max_size=8),
        "records": st.binary(max_size=8),
    }[type_name]


def instances(stem: str, layout: Layout, values=scalars):
    """Instances of the struct that have only what the layout carries; the rest is default."""
    cls = struct_class(stem, layout.struct.name)
    slots = (*layout.slots, *layout.tagged)
    return st.builds(cls, **{slot.field.name: _slot_values(stem, slot, values) for slot in slots})


def _slot_values(stem: str, slot: Slot, values):
    nested = slot.nested
    strategy = values(slot.field) if nested is None else instances(stem, nested, values)
    if slot.field.is_array:
        strategy = st.lists(strategy, max_size=MAX_ELEMENTS)
    elif slot.nested is not None and slot.field.tag is not None and not slot.nullable:
        # A tagged struct of defaults is not sent, so it is decoded as None.
        empty = struct_class(stem, slot.nested.struct.name)()
        return st.one_of(st.none(), strategy.map(lambda made: None if made == empty else made))
    return st.one_of(st.none(), strategy) if slot.nullable else strategy


def random_instance(rng, stem: str, layout: Layout, values=lambda rng, slot: None):
    """A quick instance for tests that need hundreds of thousands; `rng` is a random.Random.

    `values` may choose the value of a primitive slot, or of one element of it; None: any value.
    """
    made = struct_class(stem, layout.struct.name)()
    for slot in (*layout.slots, *layout.tagged):
        setattr(made, slot.field.name, _random_slot(rng, stem, slot, values))
    return made


def _random_slot(rng, stem: str, slot: Slot, values):
    if slot.nullable and rng.random() < 0.2:
        return None
    if not slot.field.is_array:
        return _random_value(rng, stem, slot, values)
    return [_random_value(rng, stem, slot, values) for _ in range(rng.randrange(MAX_ELEMENTS))]


def _random_value(rng, stem: str, slot: Slot, values):
    kind = slot.field.type
    if slot.nested is not None:
        return random_instance(rng, stem, slot.nested, values)
    chosen = values(rng, slot)
    if chosen is not None:
        return chosen
    if kind in INTEGERS:
        low, high = INTEGERS[kind]
        return rng.choice((low, -1 if low else 1, 0, 1, high, rng.randint(low, high)))
    raw = rng.randbytes(rng.choice((0, 1, 5, 200)))
    return {
        "bool": True,
        "float64": rng.random(),
        "uuid": Uuid(rng.randbytes(16)),
        "string": raw.hex()[: len(raw)],
        "bytes": raw,
        "records": raw,
    }[kind]
