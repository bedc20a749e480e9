"""The layout of a struct on the wire in one version.

Versions whose layouts compare equal share one generated function.
"""

from dataclasses import dataclass

from codegen.model import WIDTH, Field, MessageDecl, Schema, StructDecl


@dataclass(frozen=True, slots=True)
class Slot:
    """A field in one version; `nested` is the layout of its struct, if it has one."""

    field: Field
    nullable: bool
    nested: "Layout | None"

    @property
    def is_fixed(self) -> bool:
        return not self.field.is_array and self.field.type in WIDTH

    @property
    def carries_records(self) -> bool:
        if self.nested is not None:
            return self.nested.carries_records
        return self.field.type == "records"


@dataclass(frozen=True, slots=True)
class Layout:
    """The slots of a struct in wire order, its tagged slots by tag, and its absent fields."""

    struct: StructDecl
    flexible: bool
    slots: tuple[Slot, ...]
    tagged: tuple[Slot, ...]
    absent: tuple[Field, ...]

    @property
    def carries_records(self) -> bool:
        return any(slot.carries_records for slot in self.slots)

    @property
    def min_size(self) -> int:
        """Minimum bytes of one instance; limits the element count of an array."""
        return sum(_min_size(slot, self.flexible) for slot in self.slots) + self.flexible


def resolve(schema: Schema, message: MessageDecl, struct: StructDecl, version: int) -> Layout:
    """Returns the layout of a struct in one version of a message."""
    flexible = version >= message.flexible_from

    def slot(field: Field) -> Slot:
        nested = None
        if field.is_struct:
            nested = resolve(schema, message, schema.structs[field.type], version)
        nullable = field.nullable is not None and version in field.nullable
        return Slot(field, nullable, nested)

    present = [field for field in struct.fields if version in field.versions]
    tagged = sorted((f for f in present if f.tag is not None), key=lambda f: f.tag or 0)
    return Layout(
        struct=struct,
        flexible=flexible,
        slots=tuple(slot(field) for field in present if field.tag is None),
        tagged=tuple(slot(field) for field in tagged),
        absent=tuple(field for field in struct.fields if version not in field.versions),
    )


def _min_size(slot: Slot, flexible: bool) -> int:
    if slot.is_fixed:
        return WIDTH[slot.field.type]
    if slot.nested is not None and not slot.field.is_array:
        return 1 if slot.nullable else slot.nested.min_size
    if flexible:
        return 1
    is_string = slot.field.type == "string" and not slot.field.is_array
    return 2 if is_string else 4
