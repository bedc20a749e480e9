"""Writes the classes of a module: slots, field table, __init__."""

from codegen.model import MessageDecl, StructDecl
from codegen.source import Lines, attribute_type, default_value, type_label


def emit_struct(lines: Lines, struct: StructDecl) -> None:
    """Writes the class of a nested struct."""
    lines.add()
    lines.add()
    with lines.indented(f"class {struct.name}(WireStruct):"):
        _emit_members(lines, struct)


def emit_message(lines: Lines, message: MessageDecl, response: str | None) -> None:
    """Writes the class of a request, a response or a record.

    `response` is the class of the response to a request, None for other messages.
    """
    lines.add()
    lines.add()
    base = "Message" if response is None else f'Request["{response}"]'
    with lines.indented(f"class {message.body.name}({base}):"):
        _emit_members(lines, message.body, _message_facts(message))


def _message_facts(message: MessageDecl) -> list[str]:
    facts = [] if message.api_key is None else [f"API_KEY: ClassVar[int] = {message.api_key}"]
    return [
        *facts,
        f"MIN_VERSION: ClassVar[int] = {message.versions.low}",
        f"MAX_VERSION: ClassVar[int] = {message.versions.high}",
        f"FLEXIBLE_FROM: ClassVar[int] = {message.flexible_from}",
    ]


def _emit_members(lines: Lines, struct: StructDecl, facts: list[str] | None = None) -> None:
    with lines.indented("__slots__ = ("):
        for field in struct.fields:
            lines.add(f'"{field.name}",')
    lines.add(")")
    for fact in facts or []:
        lines.add(fact)
    with lines.indented("FIELDS: ClassVar[FieldSpecs] = ("):
        for field in struct.fields:
            nullable = "None" in attribute_type(field) or field.type == "records"
            low, high = field.versions.low, field.versions.high
            lines.add(f'("{field.name}", "{type_label(field)}", {low}, {high}, {nullable}),')
    lines.add(")")
    lines.add()
    _emit_init(lines, struct)


def _emit_init(lines: Lines, struct: StructDecl) -> None:
    if not struct.fields:
        lines.add("def __init__(self) -> None:")
        lines.add("    pass")
        return
    with lines.indented("def __init__("):
        lines.add("self,")
        for field in struct.fields:
            annotation, default = attribute_type(field), default_value(field)
            if default.endswith("()"):
                annotation, default = f"{annotation} | None", "None"
            lines.add(f"{field.name}: {annotation} = {default.replace('[]', 'EMPTY')},")
    with lines.indented(") -> None:"):
        for field in struct.fields:
            value, default = field.name, default_value(field)
            if default == "[]":
                value = f"[] if {value} is EMPTY else {value}"
            elif default.endswith("()"):
                value = f"{default} if {value} is None else {value}"
            comment = f"  # {field.doc}" if field.doc else ""
            lines.add(f"self.{field.name} = {value}{comment}")
