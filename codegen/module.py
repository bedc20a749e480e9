"""Assembles the generated modules and writes their index."""

from codegen.emit_class import emit_message, emit_struct
from codegen.emit_decode import DecodeEmitter
from codegen.emit_encode import EncodeEmitter
from codegen.layout import resolve
from codegen.model import MessageDecl, Schema
from codegen.source import Formats, Lines

_PRIMITIVES = (
    "EMPTY",
    "Part",
    "Records",
    "UVARINTS",
    "bad_tag",
    "int32_elements",
    "int_elements",
    "long_string_length",
    "new",
    "over_budget",
    "overrun",
    "read_compact_strings",
    "read_int32s",
    "read_ints",
    "read_long_string_length",
    "read_long_uvarint",
    "read_strings",
    "read_tag",
    "read_tag_count",
    "skip_tags",
    "too_many",
    "unexpected_null",
    "uvarint",
    "write_compact_strings",
    "write_strings",
    "write_tags",
)


def render(schema: Schema) -> str:
    """Returns the source of the module of one declaration file."""
    formats = Formats()
    classes, functions, tables = Lines(), Lines(), Lines()
    for struct in schema.structs.values():
        emit_struct(classes, struct)
    for message in schema.messages:
        emit_message(classes, message, _response_of(schema, message))
    decoder = DecodeEmitter(functions, formats)
    encoder = EncodeEmitter(functions, formats)
    for message in schema.messages:
        _emit_tables(tables, schema, message, decoder, encoder)
    body = "\n".join([*classes.text, *functions.text, "", "", *tables.text])
    return "\n".join([*_head(schema), *_imports(body, formats), *_formats(formats), body, ""])


def _response_of(schema: Schema, message: MessageDecl) -> str | None:
    if message.kind != "request":
        return None
    return next((other.body.name for other in schema.messages if other.kind == "response"), None)


def _emit_tables(
    tables: Lines,
    schema: Schema,
    message: MessageDecl,
    decoder: DecodeEmitter,
    encoder: EncodeEmitter,
) -> None:
    decoders, encoders = {}, {}
    for version in message.versions:
        layout = resolve(schema, message, message.body, version)
        decoders[version] = decoder.message_function(layout, version)
        encoders[version] = encoder.message_function(layout, version)
    for attribute, functions in (("DECODERS", decoders), ("ENCODERS", encoders)):
        with tables.indented(f"{message.body.name}.{attribute} = {{"):
            for version, name in functions.items():
                tables.add(f"{version}: {name},")
        tables.add("}")


def _head(schema: Schema) -> list[str]:
    notice = f"Generated from schemas/{schema.stem}.msg by codegen; edit that and run it again."
    return [f'"""{schema.doc}', "", notice, '"""', ""]


def _imports(body: str, formats: Formats) -> list[str]:
    words = set(_words(body))
    lines = []
    if "Sequence" in words:
        lines.append("from collections.abc import Sequence")
    if formats.packers or formats.unpackers:
        lines.append("from struct import Struct")
    lines += ["from typing import ClassVar", ""]
    if "LocalError" in words:
        lines.append("from barnabas.model.errors import LocalError")
    ids = [name for name in ("ZERO_UUID", "Uuid") if name in words]
    if ids:
        lines.append(f"from barnabas.model.ids import {', '.join(ids)}")
    bases = [name for name in ("FieldSpecs", "Message", "Request", "WireStruct") if name in words]
    lines.append(f"from barnabas.wire.message import {', '.join(bases)}")
    used = [name for name in _PRIMITIVES if name in words]
    lines.append("from barnabas.wire.primitives import (")
    lines += [f"    {name}," for name in used]
    return [*lines, ")", ""]


def _formats(formats: Formats) -> list[str]:
    lines = [f'{name} = Struct(">{codes}").pack' for codes, name in sorted(formats.packers.items())]
    lines += [
        f'{name} = Struct(">{codes}").unpack_from'
        for codes, name in sorted(formats.unpackers.items())
    ]
    return lines


def _words(text: str) -> list[str]:
    for mark in "()[]{},.:=|<>*+-\"'":
        text = text.replace(mark, " ")
    return text.split()


def render_index(schemas: list[Schema]) -> str:
    """Returns the source of `index.py`: module and class names of each API key."""
    lines = [
        '"""Module and message classes of each API key.',
        "",
        "Generated from schemas/ by codegen.",
        '"""',
        "",
        "MODULES: dict[int, tuple[str, str, str]] = {",
    ]
    apis = sorted((s for s in schemas if s.messages[0].api_key is not None), key=_api_key)
    for schema in apis:
        request, response = schema.messages
        names = f'"{schema.stem}", "{request.body.name}", "{response.body.name}"'
        lines.append(f"    {_api_key(schema)}: ({names}),")
    flexible = ", ".join(f"{_api_key(s)}: {s.messages[0].flexible_from}" for s in apis)
    return "\n".join([*lines, "}", "", f"FLEXIBLE_FROM: dict[int, int] = {{{flexible}}}", ""])


def _api_key(schema: Schema) -> int:
    key = schema.messages[0].api_key
    return -1 if key is None else key
