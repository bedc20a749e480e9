"""Every API of the handler list, in every version it is served in, with and without its rights."""

from types import SimpleNamespace

import pytest
from support.security.access_rows import ROWS, TOPIC, TOPIC_ID

from barnabas.broker.access.access import Authorizers
from barnabas.broker.access.authorization.table import RULES, authorized
from barnabas.broker.handler import Handler, RequestContext
from barnabas.broker.handlers import HANDLERS
from barnabas.model.errors import LocalError
from barnabas.security.acl import (
    AccessEntry,
    AclBinding,
    Operation,
    PatternType,
    Permission,
    ResourcePattern,
)
from barnabas.security.authorizer import AclSet, Authorizer
from barnabas.security.principal import Principal
from barnabas.wire.api_keys import response_class
from barnabas.wire.headers import RequestHeader
from barnabas.wire.message import Message

ALICE = Principal("User", "alice")
ROOT = Principal("User", "root")
CASES = [
    pytest.param(handler, row, id=f"{handler.api.name}-{number}")
    for handler in HANDLERS
    for number, row in enumerate(ROWS.get(handler.api, ()))
]
GUARDED = [case for case in CASES if case.values[1].needs]


class Metadata:
    """One topic, which every client could see without an authorizer."""

    def topic_name(self, topic_id):
        return TOPIC.name if topic_id == TOPIC_ID else None

    def has_topic(self, name):
        return name == TOPIC.name

    def topics(self):
        return [TOPIC.name]


def allow(operation, resource, permission=Permission.ALLOW, prefixed=False):
    kind = PatternType.PREFIXED if prefixed else PatternType.LITERAL
    name = resource.name[:3] if prefixed else resource.name
    entry = AccessEntry(str(ALICE), "*", operation, permission)
    return AclBinding(ResourcePattern(resource.type, name, kind), entry)


def deny(operation, resource):
    return allow(operation, resource, Permission.DENY)


def versions_of(handler, row):
    low, high = handler.versions
    return range(max(low, row.versions[0]), min(high, row.versions[1]) + 1)


def ask(handler, row, version, rules, who=ALICE):
    """The codes in the response, and whether the handler got the whole request."""
    served = []

    def serve(ctx, request):
        served.append(request)
        return row.answer(request) if row.answer else response_class(int(handler.api))()

    authorizer = Authorizer(AclSet(rules), super_users=[ROOT])
    stood_in = Handler(handler.api, handler.versions, serve)
    (behind_guard,) = authorized([stood_in], Authorizers(authorizer))
    services = SimpleNamespace(metadata=Metadata(), config={"auto.create.topics.enable": True})
    connection = SimpleNamespace(
        listener_name="X", principal=who, stream=SimpleNamespace(peer=("10.0.0.1", 1))
    )
    header = RequestHeader(int(handler.api), version, 1, "client")
    ctx = RequestContext(header, connection, services)
    response = behind_guard.handle(ctx, row.make(version))
    if ctx.amend is not None and served:
        response = ctx.amend(response)
    response.encode(version)  # every field that the version wants is there
    untouched = served and served[0].encode(version) == row.make(version).encode(version)
    return {code for code in codes_in(response) if code}, bool(untouched)


def codes_in(value):
    if isinstance(value, list):
        for item in value:
            yield from codes_in(item)
    elif isinstance(value, Message) or hasattr(value, "__slots__"):
        for name in value.__slots__:
            if name.endswith("error_code"):
                yield getattr(value, name)
            elif not name.startswith("_"):
                yield from codes_in(getattr(value, name, None))


def test_every_handler_has_a_guard_and_a_row():
    apis = {handler.api for handler in HANDLERS}
    assert apis == set(RULES)
    assert apis == set(ROWS)


def test_a_handler_without_a_rule_is_not_served(monkeypatch):
    monkeypatch.delitem(RULES, HANDLERS[0].api)
    with pytest.raises(LocalError, match="has no authorization rule"):
        authorized(HANDLERS, Authorizers(Authorizer()))


@pytest.mark.parametrize(("handler", "row"), CASES)
def test_a_super_user_may_do_everything(handler, row):
    for version in versions_of(handler, row):
        codes, _ = ask(handler, row, version, [], who=ROOT)
        assert not codes


@pytest.mark.parametrize(("handler", "row"), GUARDED)
def test_without_any_rule_nothing_is_done(handler, row):
    for version in versions_of(handler, row):
        codes, served = ask(handler, row, version, [])
        if version > row.silent_until:
            assert codes == {next(iter(row.needs.values()))}
        else:
            assert not served


@pytest.mark.parametrize(("handler", "row"), GUARDED)
@pytest.mark.parametrize("prefixed", [False, True], ids=["literal", "prefixed"])
def test_with_its_rights_it_is_served(handler, row, prefixed):
    rules = [allow(*right, prefixed=prefixed) for right in row.needs]
    for version in versions_of(handler, row):
        assert ask(handler, row, version, rules) == (set(), True)


@pytest.mark.parametrize(("handler", "row"), GUARDED)
def test_each_right_is_needed(handler, row):
    for missing, code in row.needs.items():
        rules = [allow(*right) for right in row.needs if right != missing]
        for version in versions_of(handler, row):
            if version > row.silent_until:
                codes, _ = ask(handler, row, version, rules)
                assert code in codes


@pytest.mark.parametrize(("handler", "row"), GUARDED)
def test_another_operation_does_not_do(handler, row):
    """CVE-2026-41115 was a wrong operation in one row."""
    for (operation, resource), code in row.needs.items():
        implied = {
            Operation.DESCRIBE: {_O.READ, _O.WRITE, _O.DELETE, _O.ALTER},
            Operation.DESCRIBE_CONFIGS: {_O.ALTER_CONFIGS},
        }.get(operation, set())
        others = set(Operation) - {operation, _O.ALL, _O.ANY, _O.UNKNOWN} - implied
        others -= {right[0] for right in _alternatives(handler) if right[1] == resource}
        rules = [allow(other, resource) for other in others]
        rules += [allow(*right) for right in row.needs if right[1] != resource]
        for version in versions_of(handler, row):
            if version > row.silent_until:
                assert code in ask(handler, row, version, rules)[0]


@pytest.mark.parametrize(("handler", "row"), GUARDED)
def test_a_denial_wins(handler, row):
    for denied, code in row.needs.items():
        rules = [allow(*right) for right in row.needs] + [deny(*denied)]
        for version in versions_of(handler, row):
            if version > row.silent_until:
                assert code in ask(handler, row, version, rules)[0]


_O = Operation


def _alternatives(handler):
    """Rights of the API's other rows, each of which would do as well."""
    return [right for row in ROWS[handler.api] for right in row.needs]
