import sys
from types import ModuleType

import pytest

from barnabas.model.errors import LocalError, ProtocolError
from codegen.__main__ import OUTPUT, SCHEMAS, generate, stale
from codegen.grammar import parse
from codegen.module import render, render_index

SCHEMA = """
# A thing.

api 999 Thing
versions 0-2
flexible 1+

struct Inner
  y  int8

request
  before  uint16          = 5
  inner   Inner
  maybe   Inner?
  bits    [int8]
  longs   [int64]
  rate    float64
  raw     bytes?          = null
  late    [Inner]   2+  tag 3
  name    string    2+  tag 0  = "x"
  some    Inner?    2+  tag 1  = null

response
"""


@pytest.fixture
def module():
    made = ModuleType("generated_thing")
    sys.modules["generated_thing"] = made
    exec(compile(render(parse("thing", SCHEMA)), "thing.py", "exec"), made.__dict__)
    yield made
    del sys.modules["generated_thing"]


def round_trip(message, version):
    data = b"".join(message.encode(version))
    return data, type(message).decode(memoryview(data), version)


def test_all_kinds_of_fields(module):
    thing = module.ThingRequest(
        before=65535,
        inner=module.Inner(1),
        maybe=module.Inner(2),
        bits=[-1, 0, 1],
        longs=[1 << 40],
        rate=0.5,
        raw=b"raw",
        late=[module.Inner(3)],
        name="name",
        some=module.Inner(4),
    )
    data, back = round_trip(thing, 2)
    assert back == thing
    assert data.hex() == (
        "ffff"  # before
        "0100"  # inner, no tags
        "010200"  # maybe, present
        "04ff0001"  # bits
        "020000010000000000"  # longs
        "3fe0000000000000"  # rate
        "04726177"  # raw
        "03"  # tags
        "0005056e616d65"  # 0, name
        "0103010400"  # 1, some: present, its byte, no tags
        "0303020300"  # 3, late
    )


def test_omitted_fields_have_their_defaults(module):
    thing = module.ThingRequest(maybe=None)
    assert (thing.before, thing.name, thing.raw, thing.some) == (5, "x", None, None)
    assert thing.inner == module.Inner(0)
    data, back = round_trip(thing, 2)
    assert back == thing
    assert data.endswith(b"\0\0")


def test_versions_without_tags(module):
    thing = module.ThingRequest(maybe=None, late=[module.Inner(1)], name="gone")
    for version in (0, 1):
        _, back = round_trip(thing, version)
        assert back == module.ThingRequest(maybe=None)


def test_tagged_struct_may_be_null_explicitly(module):
    """KIP-893: under a tag, null is a zero varint."""
    data = b"".join(module.ThingRequest(maybe=None).encode(2))
    assert module.ThingRequest.decode(memoryview(data[:-1] + b"\1\1\1\0"), 2).some is None


def test_null_for_a_struct_that_may_not_be(module):
    thing = module.ThingRequest()
    thing.inner = None
    with pytest.raises(LocalError, match=r"ThingRequest.inner must not be None"):
        thing.encode(1)


def test_an_empty_message_has_a_tag_section_in_flexible_versions(module):
    assert round_trip(module.ThingResponse(), 0)[0] == b""
    assert round_trip(module.ThingResponse(), 1)[0] == b"\0"
    with pytest.raises(ProtocolError):
        module.ThingResponse.decode(memoryview(b""), 1)


def test_the_index_maps_keys_to_modules_and_classes():
    index: dict = {}
    exec(render_index([parse("thing", SCHEMA)]), index)
    assert index["MODULES"] == {999: ("thing", "ThingRequest", "ThingResponse")}
    assert index["FLEXIBLE_FROM"] == {999: 1}


def test_checked_in_code_is_fresh():
    assert stale(generate(SCHEMAS), OUTPUT) == []


def test_stale_files_are_found(tmp_path):
    (tmp_path / "same.py").write_text("same")
    (tmp_path / "changed.py").write_text("old")
    (tmp_path / "orphan.py").write_text("left behind")
    (tmp_path / "__init__.py").write_text("hand-written")
    files = {"same.py": "same", "changed.py": "new", "missing.py": "new"}
    assert stale(files, tmp_path) == ["changed.py", "missing.py", "orphan.py"]
