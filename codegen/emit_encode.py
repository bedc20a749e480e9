"""Writes encoders: one function per layout of a message, and one per layout of an array of structs.

Encoders append to a bytearray. Records are passed by reference: the function of a struct with
records adds the current bytearray and then the records to the parts, and continues in a new
bytearray, which it returns.
"""

from dataclasses import replace

from codegen.layout import Layout, Slot
from codegen.model import FIXED, Field
from codegen.source import Formats, Lines, default_value, snake

_INT_WRITERS = {"int8": "b", "int16": "h", "int64": "q"}


class EncodeEmitter:
    """Writes the encoders of a module; equal layouts share the function of the first version."""

    def __init__(self, lines: Lines, formats: Formats) -> None:
        self._lines = lines
        self._formats = formats
        self._names: dict[tuple[Layout, bool], str] = {}

    def message_function(self, layout: Layout, version: int) -> str:
        """Returns the name of the encoder of a message body; writes it on first use."""
        known = self._names.get((layout, False))
        if known:
            return known
        self._emit_nested(layout, version)
        name = f"_encode_{snake(layout.struct.name)}_v{version}"
        self._names[layout, False] = name
        lines = self._lines
        lines.add()
        lines.add()
        with lines.indented(f"def {name}(o: {layout.struct.name}) -> list[Part]:"):
            if layout.carries_records:
                lines.add("parts: list[Part] = []")
            lines.add("out = bytearray()")
            self._emit_body(layout)
            if layout.carries_records:
                with lines.indented("if out:"):
                    lines.add("parts.append(out)")
                lines.add("return parts")
            else:
                lines.add("return [out]")
        return name

    def _array_function(self, layout: Layout, version: int) -> str:
        known = self._names.get((layout, True))
        if known:
            return known
        self._emit_nested(layout, version)
        struct = layout.struct.name
        name = f"_write_{snake(struct)}_v{version}"
        self._names[layout, True] = name
        lines = self._lines
        lines.add()
        lines.add()
        with lines.indented(f"def {name}("):
            parts = "parts: list[Part], " if layout.carries_records else ""
            lines.add(f"{parts}out: bytearray, items: Sequence[{struct}]")
        with lines.indented(f") -> {'bytearray' if layout.carries_records else 'None'}:"):
            with lines.indented("for o in items:"):
                self._emit_body(layout)
            if layout.carries_records:
                lines.add("return out")
        return name

    def _emit_nested(self, layout: Layout, version: int) -> None:
        for slot in (*layout.slots, *layout.tagged):
            if slot.nested is not None:
                self._array_function(slot.nested, version)

    def _emit_body(self, layout: Layout) -> None:
        self._emit_slots(layout.slots, layout.flexible, "out")
        if layout.flexible:
            self._emit_tags(layout)
        elif not layout.slots:
            self._lines.add("pass")

    def _emit_slots(self, slots: tuple[Slot, ...], flexible: bool, out: str) -> None:
        run: list[Slot] = []
        for slot in slots:
            if slot.is_fixed:
                run.append(slot)
                continue
            if slot.nested is not None and not slot.field.is_array:
                self._emit_run(run, None, out)
                self._emit_single_struct(slot, out)
            elif flexible:
                self._emit_run(run, None, out)
                self._emit_compact(slot, out)
            else:
                self._emit_classic(run, slot, out)
            run = []
        self._emit_run(run, None, out)

    def _emit_run(self, run: list[Slot], length_code: str | None, out: str) -> None:
        for slot in run:
            if slot.field.type == "uuid":
                with self._lines.indented(f"if len(o.{slot.field.name}) != 16:"):
                    self._lines.add('raise LocalError("a uuid has 16 bytes")')
        codes = [FIXED[slot.field.type] for slot in run]
        values = [f"o.{slot.field.name}" for slot in run]
        if length_code:
            codes.append(length_code)
            values.append("n")
        if codes:
            self._lines.add(f"{out} += {self._formats.pack(codes)}({', '.join(values)})")

    def _emit_classic(self, run: list[Slot], slot: Slot, out: str) -> None:
        """Writes one pack for fixed fields and the int16 or int32 length of the next field."""
        lines, field = self._lines, slot.field
        is_string = field.type == "string" and not field.is_array
        value = f"o.{field.name}.encode()" if is_string else f"o.{field.name}"
        if slot.nullable:
            with lines.indented(f"if o.{field.name} is None:"):
                lines.add("n = -1")
                if is_string:
                    lines.add('s = b""')
            with lines.indented("else:"):
                if is_string:
                    lines.add(f"s = {value}")
                lines.add(f"n = len({'s' if is_string else value})")
        else:
            self._emit_null_check(field)
            if is_string:
                lines.add(f"s = {value}")
            lines.add(f"n = len({'s' if is_string else value})")
        self._emit_run(run, "h" if is_string else "i", out)
        if slot.nullable and not is_string:
            with lines.indented(f"if o.{field.name} is not None:"):
                self._emit_content(slot, out, flexible=False)
        else:
            self._emit_content(slot, out, flexible=False)

    def _emit_compact(self, slot: Slot, out: str) -> None:
        lines, field = self._lines, slot.field
        if slot.nullable:
            with lines.indented(f"if o.{field.name} is None:"):
                lines.add(f"{out}.append(0)")
            with lines.indented("else:"):
                self._emit_compact_value(slot, out)
        else:
            if field.tag is None:
                self._emit_null_check(field)
            self._emit_compact_value(slot, out)

    def _emit_null_check(self, field: Field) -> None:
        """Writes a null check if other versions allow null: the type then includes None."""
        if field.nullable is not None:
            with self._lines.indented(f"if o.{field.name} is None:"):
                self._lines.add(
                    f'raise LocalError("{field.name} must not be None in this version")'
                )

    def _emit_compact_value(self, slot: Slot, out: str) -> None:
        lines, field = self._lines, slot.field
        is_string = field.type == "string" and not field.is_array
        longer = "long_string_length" if is_string else "uvarint"
        if is_string:
            lines.add(f"s = o.{field.name}.encode()")
        lines.add(f"n = len({'s' if is_string else f'o.{field.name}'}) + 1")
        lines.add(f"{out} += UVARINTS[n] if n < 128 else {longer}(n)")
        self._emit_content(slot, out, flexible=True)

    def _emit_content(self, slot: Slot, out: str, *, flexible: bool) -> None:
        lines, field = self._lines, slot.field
        if field.is_array:
            self._emit_elements(slot, out, flexible)
        elif field.type == "string":
            lines.add(f"{out} += s")
        elif field.type == "bytes":
            lines.add(f"{out} += o.{field.name}")
        else:
            with lines.indented(f"if n > {1 if flexible else 0}:"):
                lines.add(f"parts += (out, o.{field.name})")
                lines.add("out = bytearray()")

    def _emit_elements(self, slot: Slot, out: str, flexible: bool) -> None:
        lines, value = self._lines, f"o.{slot.field.name}"
        if slot.nested is not None:
            name = self._names[slot.nested, True]
            if slot.nested.carries_records:
                lines.add(f"out = {name}(parts, out, {value})")
            else:
                lines.add(f"{name}({out}, {value})")
        elif slot.field.type == "string":
            lines.add(f"write_{'compact_' if flexible else ''}strings({out}, {value})")
        elif slot.field.type == "int32":
            lines.add(f"{out} += int32_elements({value})")
        else:
            lines.add(f'{out} += int_elements({value}, "{_INT_WRITERS[slot.field.type]}")')

    def _emit_single_struct(self, slot: Slot, out: str) -> None:
        assert slot.nested is not None
        lines, field = self._lines, slot.field
        name = self._names[slot.nested, True]
        if not slot.nullable:
            lines.add(f"{name}({out}, (o.{field.name},))")
            return
        with lines.indented(f"if o.{field.name} is None:"):
            lines.add(f"{out}.append(255)")
        with lines.indented("else:"):
            lines.add(f"{out}.append(1)")
            lines.add(f"{name}({out}, (o.{field.name},))")

    def _emit_tags(self, layout: Layout) -> None:
        lines = self._lines
        if not layout.tagged:
            lines.add("out.append(0)")
            return
        if len(layout.tagged) == 1:
            self._emit_only_tag(layout.tagged[0])
            return
        with lines.indented(f"if {' and '.join(_is_default(s.field) for s in layout.tagged)}:"):
            lines.add("out.append(0)")
        with lines.indented("else:"):
            lines.add("tags: list[tuple[int, bytearray]] = []")
            for slot in layout.tagged:
                with lines.indented(f"if {_is_set(slot.field)}:"):
                    self._emit_tag_content(slot)
                    lines.add(f"tags.append(({slot.field.tag}, t))")
            lines.add("write_tags(out, tags)")

    def _emit_only_tag(self, slot: Slot) -> None:
        lines = self._lines
        with lines.indented(f"if {_is_set(slot.field)}:"):
            self._emit_tag_content(slot)
            lines.add(f"write_tags(out, [({slot.field.tag}, t)])")
        with lines.indented("else:"):
            lines.add("out.append(0)")

    def _emit_tag_content(self, slot: Slot) -> None:
        """Writes the content of a tag; a tag is only sent for values other than the default."""
        self._lines.add("t = bytearray()")
        if slot.nullable and slot.field.is_struct and not slot.field.is_array:
            self._lines.add("t.append(1)")
        nullable = slot.nullable and default_value(slot.field) != "None"
        self._emit_slots((replace(slot, nullable=nullable),), True, "t")


def _is_default(field: Field) -> str:
    default = default_value(field)
    if default == "None":
        return f"o.{field.name} is None"
    if default == "[]":
        return f"not o.{field.name}"
    return f"o.{field.name} == {default}"


def _is_set(field: Field) -> str:
    default = default_value(field)
    if default == "None":
        known = f"o.{field.name} is not None"
        if field.is_struct and not field.is_array and field.nullable is None:
            return f"{known} and o.{field.name} != {field.type}()"
        return known
    if default == "[]":
        return f"o.{field.name}"
    return f"o.{field.name} != {default}"
