import pytest

from codegen.grammar import GrammarError, parse
from codegen.model import NEVER_FLEXIBLE, Versions

API = """
# Says hello.
# Twice.

api 7 Greet
versions 1-4
flexible 3+

struct Shared
  id  int32

request
  name     string?2+  = null
  friends  [Friend]   2+      # who else
    nick   string
    since  int64      3+   tag 0  = -1
    pairs  [Shared]
  old      int16      -1
  only     bool       2   = true

response
  error_code  int16
  shared      [Shared]?
"""


def head(body):
    return f"record Thing\nversions 0-2\nflexible never\n\nfields\n{body}\n"


def test_a_file_declares_request_response_and_structs():
    schema = parse("greet", API)
    request, response = schema.messages
    assert schema.doc == "Says hello.\nTwice."
    assert (request.body.name, response.body.name) == ("GreetRequest", "GreetResponse")
    assert (request.api_key, request.versions, request.flexible_from) == (7, Versions(1, 4), 3)
    assert list(schema.structs) == ["Shared", "Friend"]


def test_fields_have_versions_defaults_and_tags():
    schema = parse("greet", API)
    name, friends, old, only = schema.messages[0].body.fields
    assert (name.nullable, name.default, name.versions) == (Versions(2, 4), "null", Versions(1, 4))
    assert (friends.is_array, friends.versions) == (True, Versions(2, 4))
    assert friends.doc == "who else"
    assert (old.versions, only.versions, only.default) == (Versions(1, 1), Versions(2, 2), "true")
    nick, since, pairs = schema.structs["Friend"].fields
    assert nick.versions == Versions(2, 4)
    assert (since.versions, since.tag, since.default) == (Versions(3, 4), 0, "-1")
    assert pairs.is_struct
    assert schema.messages[1].body.fields[1].nullable == Versions(1, 4)


def test_a_record_has_no_api_key():
    (message,) = parse("thing", head("  a  int8")).messages
    assert (message.kind, message.api_key, message.flexible_from) == (
        "fields",
        None,
        NEVER_FLEXIBLE,
    )
    assert message.body.name == "Thing"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (head("  a"), "thing:6: expected a name and a type"),
        (head("  a  int8  later"), "thing:6: cannot read 'later'"),
        (head("  a  int9"), r"Thing.a has the unknown type int9"),
        (head("  a  [X]\n    b  int8\n  c  [X]\n    b  int8"), "struct X is declared twice"),
        ("record Thing\nflexible never\nfields\n  a  int8", "no versions line"),
        ("record Thing\nversions 0\nflexible never\n", "no request, response or fields block"),
        ("record Thing\nversions abc\nflexible never\nfields\n  a int8", "not a range of versions"),
    ],
)
def test_errors_name_the_line_that_cannot_be_parsed(text, problem):
    with pytest.raises(GrammarError, match=problem):
        parse("thing", text)
