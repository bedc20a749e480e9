from codegen.grammar import parse
from codegen.layout import resolve

SCHEMA = parse(
    "thing",
    """
api 1 Thing
versions 0-3
flexible 2+

request
  a      int16
  names  [Name]
    n    string
    id   uuid    1+
  late   int32   3+  tag 1
  early  int32   3+  tag 0
  data   records?
  gone   bool    0

response
  x  Inner?
    y  int64
""",
)
REQUEST, RESPONSE = SCHEMA.messages


def layout(version, message=REQUEST):
    return resolve(SCHEMA, message, message.body, version)


def test_fields_of_a_version():
    assert [slot.field.name for slot in layout(0).slots] == ["a", "names", "data", "gone"]
    assert [slot.field.name for slot in layout(3).slots] == ["a", "names", "data"]
    assert [field.name for field in layout(1).absent] == ["late", "early", "gone"]


def test_tagged_fields_are_ordered_by_tag():
    assert [slot.field.name for slot in layout(3).tagged] == ["early", "late"]


def test_equal_versions_share_a_layout():
    same = parse("same", "record Same\nversions 0-2\nflexible never\nfields\n  a  int8")
    (message,) = same.messages
    layouts = {resolve(same, message, message.body, version) for version in message.versions}
    assert len(layouts) == 1
    assert layout(1) != layout(2)


def test_the_minimum_size_counts_each_field_once():
    # int16, then counts and lengths of int32, then a bool.
    assert layout(0).min_size == 2 + 4 + 4 + 1
    # int16, then one byte each, and the tag section.
    assert layout(2).min_size == 2 + 1 + 1 + 1
    assert layout(0).slots[1].nested.min_size == 2
    assert layout(2).slots[1].nested.min_size == 1 + 16 + 1
    assert layout(2, RESPONSE).min_size == 1 + 1


def test_only_the_request_carries_records():
    assert layout(0).carries_records
    assert not layout(0, RESPONSE).carries_records
