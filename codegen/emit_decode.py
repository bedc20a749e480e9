"""Writes decoders: one function per layout of a message, and one per layout of an array of structs.

Runs of fixed-width fields become one struct.unpack_from, together with the int16 or int32 length
of the next field in the older layouts. Objects are created without __init__; the decoder sets every
slot from the bytes or from the default.

The reader of an array subtracts the estimated memory of all elements from the budget of the message
before it creates the first one. The estimate per element depends only on the layout.
"""

from codegen.layout import Layout, Slot
from codegen.model import FIXED, WIDTH
from codegen.source import Formats, Lines, default_value, snake

_INT_READERS = {"int8": "b", "int16": "h", "int64": "q"}

# Memory in bytes of CPython objects on a 64-bit machine.
_OBJECT_COST = 40
_REFERENCE_COST = 8
_LIST_COST = 64
_FIELD_COSTS = {
    "bool": 0,
    "int8": 0,
    "float64": 24,
    "uuid": 56,
    "string": 56,
    "bytes": 40,
    "records": 184,
}
_INTEGER_COST = 32


def element_cost(layout: Layout) -> int:
    """Returns the estimated memory of one struct in an array, without its nested elements."""
    cost = _OBJECT_COST + _REFERENCE_COST * (1 + len(layout.struct.fields))
    fields = [slot.field for slot in layout.slots]
    cost += sum(_FIELD_COSTS.get(f.type, _INTEGER_COST) for f in fields if not f.is_array)
    return cost + _LIST_COST * sum(field.is_array for field in layout.struct.fields)


class DecodeEmitter:
    """Writes the decoders of a module; equal layouts share the function of the first version."""

    def __init__(self, lines: Lines, formats: Formats) -> None:
        self._lines = lines
        self._formats = formats
        self._names: dict[tuple[Layout, bool], str] = {}

    def message_function(self, layout: Layout, version: int) -> str:
        """Returns the name of the decoder of a message body; writes it on first use."""
        known = self._names.get((layout, False))
        if known:
            return known
        self._emit_nested(layout, version)
        name = f"_decode_{snake(layout.struct.name)}_v{version}"
        self._names[layout, False] = name
        signature = "(buf: memoryview, pos: int, end: int, budget: list[int])"
        self._lines.add()
        self._lines.add()
        with self._lines.indented(f"def {name}{signature} -> {layout.struct.name}:"):
            self._emit_body(layout)
            self._lines.add("return o")
        return name

    def _array_function(self, layout: Layout, version: int) -> str:
        known = self._names.get((layout, True))
        if known:
            return known
        self._emit_nested(layout, version)
        struct = layout.struct.name
        name = f"_read_{snake(struct)}_v{version}"
        self._names[layout, True] = name
        lines = self._lines
        lines.add()
        lines.add()
        with lines.indented(f"def {name}("):
            lines.add("buf: memoryview, pos: int, end: int, count: int, budget: list[int]")
        with lines.indented(f") -> tuple[list[{struct}], int]:"):
            with lines.indented(f"if count * {layout.min_size} > end - pos:"):
                lines.add("raise too_many(pos, count)")
            lines.add(f"left = budget[0] - count * {element_cost(layout)}")
            with lines.indented("if left < 0:"):
                lines.add("raise over_budget(pos, count)")
            lines.add("budget[0] = left")
            lines.add(f"items: list[{struct}] = []")
            with lines.indented("for _ in range(count):"):
                self._emit_body(layout)
                lines.add("items.append(o)")
            lines.add("return items, pos")
        return name

    def _emit_nested(self, layout: Layout, version: int) -> None:
        for slot in (*layout.slots, *layout.tagged):
            if slot.nested is not None:
                self._array_function(slot.nested, version)

    def _emit_body(self, layout: Layout) -> None:
        self._lines.add(f"o = new({layout.struct.name})")
        for field in layout.absent:
            self._lines.add(f"o.{field.name} = {default_value(field)}")
        self._emit_slots(layout.slots, layout.flexible, "end")
        if layout.flexible:
            self._emit_tags(layout)

    def _emit_slots(self, slots: tuple[Slot, ...], flexible: bool, end: str) -> None:
        run: list[Slot] = []
        for slot in slots:
            if slot.is_fixed:
                run.append(slot)
                continue
            has_length = slot.nested is None or slot.field.is_array
            if has_length and not flexible:
                code = "h" if slot.field.type == "string" and not slot.field.is_array else "i"
                self._emit_run(run, code)
            else:
                self._emit_run(run, None)
            run = []
            self._emit_variable(slot, flexible, end)
        self._emit_run(run, None)

    def _emit_run(self, run: list[Slot], length_code: str | None) -> None:
        lines = self._lines
        if len(run) == 1 and length_code is None and run[0].field.type == "bool":
            lines.add(f"o.{run[0].field.name} = buf[pos] != 0")
            lines.add("pos += 1")
            return
        codes = [FIXED[slot.field.type] for slot in run]
        targets = []
        for slot in run:
            is_uuid = slot.field.type == "uuid"
            targets.append(f"raw_{slot.field.name}" if is_uuid else f"o.{slot.field.name}")
        size = sum(WIDTH[slot.field.type] for slot in run)
        if length_code:
            codes.append(length_code)
            targets.append("n")
            size += 2 if length_code == "h" else 4
        if not codes:
            return
        left = f"({targets[0]},)" if len(targets) == 1 else ", ".join(targets)
        lines.add(f"{left} = {self._formats.unpack(codes)}(buf, pos)")
        lines.add(f"pos += {size}")
        for slot in run:
            if slot.field.type == "uuid":
                lines.add(f"o.{slot.field.name} = Uuid(raw_{slot.field.name})")

    def _emit_variable(self, slot: Slot, flexible: bool, end: str) -> None:
        field, lines = slot.field, self._lines
        if slot.nested is not None and not field.is_array:
            self._emit_single_struct(slot, end)
            return
        is_string = field.type == "string" and not field.is_array
        if flexible:
            longer = "read_long_string_length" if is_string else "read_long_uvarint"
            lines.add("n = buf[pos]")
            lines.add("pos += 1")
            with lines.indented("if n > 127:"):
                lines.add(f"n, pos = {longer}(buf, pos)")
            lines.add("n -= 1")
        if slot.nullable:
            with lines.indented("if n < 0:"):
                lines.add(f"o.{field.name} = None")
            with lines.indented("else:"):
                self._emit_content(slot, flexible, end)
        else:
            with lines.indented("if n < 0:"):
                lines.add(f'raise unexpected_null(pos, "{field.name}")')
            self._emit_content(slot, flexible, end)

    def _emit_content(self, slot: Slot, flexible: bool, end: str) -> None:
        field, lines = slot.field, self._lines
        if field.is_array:
            lines.add(f"o.{field.name}, pos = {self._array_reader(slot, flexible, end)}")
            return
        lines.add("q = pos + n")
        with lines.indented(f"if q > {end}:"):
            lines.add("raise overrun(pos, n)")
        value = {
            "string": 'str(buf[pos:q], "utf-8")',
            "bytes": "bytes(buf[pos:q])",
            "records": "buf[pos:q]",
        }[field.type]
        lines.add(f"o.{field.name} = {value}")
        lines.add("pos = q")

    def _array_reader(self, slot: Slot, flexible: bool, end: str) -> str:
        kind = slot.field.type
        if slot.nested is not None:
            return f"{self._names[slot.nested, True]}(buf, pos, {end}, n, budget)"
        if kind == "string":
            reader = "read_compact_strings" if flexible else "read_strings"
            return f"{reader}(buf, pos, {end}, n, budget)"
        if kind == "int32":
            return f"read_int32s(buf, pos, {end}, n, budget)"
        return f'read_ints(buf, pos, {end}, n, "{_INT_READERS[kind]}", budget)'

    def _emit_single_struct(self, slot: Slot, end: str) -> None:
        assert slot.nested is not None
        field, lines = slot.field, self._lines
        call = f"{self._names[slot.nested, True]}(buf, pos, {end}, 1, budget)"
        if not slot.nullable:
            lines.add(f"(o.{field.name},), pos = {call}")
            return
        lines.add("n = buf[pos]")
        lines.add("pos += 1")
        # KIP-893: null is int8 -1 in line, but varint 0 under a tag.
        with lines.indented("if n > 127:" if field.tag is None else "if n == 0:"):
            lines.add(f"o.{field.name} = None")
        with lines.indented("else:"):
            lines.add(f"(o.{field.name},), pos = {call}")

    def _emit_tags(self, layout: Layout) -> None:
        lines = self._lines
        for slot in layout.tagged:
            lines.add(f"o.{slot.field.name} = {default_value(slot.field)}")
        with lines.indented("if buf[pos] == 0:"):
            lines.add("pos += 1")
        with lines.indented("else:"):
            if not layout.tagged:
                lines.add("pos = skip_tags(buf, pos, end)")
                return
            lines.add("tags, pos = read_tag_count(buf, pos, end)")
            with lines.indented("for _ in range(tags):"):
                lines.add("tag, pos, stop = read_tag(buf, pos, end)")
                for index, slot in enumerate(layout.tagged):
                    with lines.indented(f"{'el' if index else ''}if tag == {slot.field.tag}:"):
                        self._emit_slots((slot,), True, "stop")
                        with lines.indented("if pos != stop:"):
                            lines.add(f'raise bad_tag(stop, "{slot.field.name}")')
                with lines.indented("else:"):
                    lines.add("pos = stop")
