"""Reads declaration files.

A file is one API (a request and a response) or one stored record::

    # Purpose of the API.                     the module's docstring

    api 24 AddPartitionsToTxn                 or: record TransactionLogValue
    versions 0-5
    flexible 3+                               or: never

    struct AddPartitionsToTxnTopic            shared by several fields, if any
      name        string
      partitions  [int32]

    request                                   then: response; a record has one block: fields
      transactions         [Transaction]  4+
        transactional_id   string                     fields of Transaction, two columns deeper
        verify_only        bool                       # comment of the field
      old_transactional_id string?        -3   = null

A field line has a name and a type, then in any order the versions that have it (`4+`, `-3`, `1-2`,
`7`; without them all versions of the parent), `tag N`, and `= default`. `?` after a type means that
the field may be null, `?7+` from version 7. Without a default: 0, false, "", empty, the zero uuid.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen.model import (
    FIXED,
    NEVER_FLEXIBLE,
    VARIABLE,
    Field,
    MessageDecl,
    Schema,
    StructDecl,
    Versions,
)

_TYPE = re.compile(r"(\[)?([A-Za-z][A-Za-z0-9]*)\]?(\?)?([0-9+-]*)")
_RANGE = re.compile(r"(\d+)\+|(\d+)-(\d+)|-(\d+)|(\d+)")
_BLOCKS = ("request", "response", "fields", "struct")


class GrammarError(Exception):
    """A declaration is invalid; the message names the file and line."""


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    indent: int
    words: tuple[str, ...]
    doc: str | None


@dataclass(frozen=True, slots=True)
class _Block:
    words: tuple[str, ...]
    lines: list[_Line]


def parse_file(path: Path) -> Schema:
    """Parses one declaration file."""
    return parse(path.stem, path.read_text(encoding="utf-8"))


def parse(stem: str, text: str) -> Schema:
    """Parses a declaration; raises GrammarError with the cause and the line."""
    return _Parser(stem, text).schema()


class _Parser:
    def __init__(self, stem: str, text: str) -> None:
        self._stem = stem
        self._text = text
        self._structs: dict[str, StructDecl] = {}
        self._versions = Versions(0, 0)

    def schema(self) -> Schema:
        header, blocks = _split(self._text)
        doc = [line.doc or "" for line in header if not line.words]
        facts = {line.words[0]: line for line in header if line.words}
        self._versions = self._message_versions(facts)
        for block in blocks:
            if block.words[0] == "struct":
                self._add_struct(block.words[1], block.lines, self._versions)
        messages = tuple(
            self._message(facts, block) for block in blocks if block.words[0] != "struct"
        )
        if not messages:
            raise GrammarError(f"{self._stem}: no request, response or fields block")
        self._check_references(messages)
        return Schema(self._stem, "\n".join(doc), messages, self._ordered())

    def _message_versions(self, facts: dict[str, _Line]) -> Versions:
        if "versions" not in facts:
            raise GrammarError(f"{self._stem}: no versions line")
        return _range(facts["versions"].words[1], Versions(0, NEVER_FLEXIBLE))

    def _message(self, facts: dict[str, _Line], block: _Block) -> MessageDecl:
        kind = block.words[0]
        if kind == "fields":
            name, key = facts["record"].words[1], None
        else:
            api = facts["api"].words
            name, key = api[2] + kind.capitalize(), int(api[1])
        flexible = facts["flexible"].words[1]
        flexible_from = NEVER_FLEXIBLE if flexible == "never" else int(flexible.rstrip("+"))
        fields = self._fields(block.lines, self._versions)
        return MessageDecl(kind, key, self._versions, flexible_from, StructDecl(name, fields))

    def _add_struct(self, name: str, lines: Sequence[_Line], versions: Versions) -> None:
        if name in self._structs:
            raise self._error(lines[0] if lines else None, f"struct {name} is declared twice")
        self._structs[name] = StructDecl(name, self._fields(lines, versions))

    def _fields(self, lines: Sequence[_Line], versions: Versions) -> tuple[Field, ...]:
        fields = []
        position = 0
        while position < len(lines):
            line = lines[position]
            position += 1
            field = self._field(line, versions)
            nested = []
            while position < len(lines) and lines[position].indent > line.indent:
                nested.append(lines[position])
                position += 1
            if nested:
                self._add_struct(field.type, nested, field.versions)
            fields.append(field)
        return tuple(fields)

    def _field(self, line: _Line, parent: Versions) -> Field:
        words = list(line.words)
        match = _TYPE.fullmatch(words[1]) if len(words) > 1 else None
        if match is None:
            raise self._error(line, "expected a name and a type")
        versions, tag, default = parent, None, None
        rest = words[2:]
        while rest:
            word = rest.pop(0)
            if word == "tag" and rest:
                tag = int(rest.pop(0))
            elif word == "=" and rest:
                default = rest.pop(0)
            elif _RANGE.fullmatch(word):
                versions = _range(word, parent)
            else:
                raise self._error(line, f"cannot read {word!r}")
        nullable = None
        if match[3]:
            nullable = _range(match[4], versions) if match[4] else versions
        is_array = match[1] is not None
        return Field(words[0], match[2], is_array, versions, nullable, tag, default, line.doc)

    def _check_references(self, messages: Sequence[MessageDecl]) -> None:
        bodies = [message.body for message in messages]
        for struct in [*bodies, *self._structs.values()]:
            for field in struct.fields:
                known = field.type in FIXED or field.type in VARIABLE or field.type in self._structs
                if not known:
                    where = f"{self._stem}: {struct.name}.{field.name}"
                    raise GrammarError(f"{where} has the unknown type {field.type}")

    def _ordered(self) -> dict[str, StructDecl]:
        ordered: dict[str, StructDecl] = {}

        def add(struct: StructDecl) -> None:
            for field in struct.fields:
                if field.is_struct and field.type not in ordered:
                    add(self._structs[field.type])
            ordered[struct.name] = struct

        for struct in self._structs.values():
            if struct.name not in ordered:
                add(struct)
        return ordered

    def _error(self, line: _Line | None, problem: str) -> GrammarError:
        place = f"{self._stem}:{line.number}" if line else self._stem
        return GrammarError(f"{place}: {problem}")


def _split(text: str) -> tuple[list[_Line], list[_Block]]:
    header: list[_Line] = []
    blocks: list[_Block] = []
    for number, raw in enumerate(text.splitlines(), 1):
        code, _, comment = raw.partition("#")
        if not raw.strip():
            continue
        indent = len(code) - len(code.lstrip())
        line = _Line(number, indent, tuple(code.split()), comment.strip() or None)
        if line.words and indent == 0 and line.words[0] in _BLOCKS:
            blocks.append(_Block(line.words, []))
        elif blocks and line.words:
            blocks[-1].lines.append(line)
        elif not blocks:
            header.append(line)
    return header, blocks


def _range(word: str, parent: Versions) -> Versions:
    match = _RANGE.fullmatch(word)
    if match is None:
        raise GrammarError(f"{word!r} is not a range of versions")
    since, low, high, until, only = match.groups()
    if since is not None:
        return Versions(max(int(since), parent.low), parent.high)
    if until is not None:
        return Versions(parent.low, min(int(until), parent.high))
    if only is not None:
        return Versions(int(only), int(only))
    return Versions(int(low), int(high))
