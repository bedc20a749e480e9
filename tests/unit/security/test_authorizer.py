import pytest

from barnabas.security.acl import (
    CLUSTER,
    AccessEntry,
    AclBinding,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    Resource,
    ResourcePattern,
    ResourceType,
)
from barnabas.security.authorizer import AclSet, Authorizer
from barnabas.security.principal import Principal

ALICE, BOB, ROOT = (Principal("User", name) for name in ("alice", "bob", "root"))
ORDERS = Resource(ResourceType.TOPIC, "orders")
HOST = "10.0.0.1"
READ, WRITE, DESCRIBE = Operation.READ, Operation.WRITE, Operation.DESCRIBE


def rule(
    name: str,
    operation: Operation = READ,
    permission: Permission = Permission.ALLOW,
    *,
    prefixed: bool = False,
    who: str = "User:alice",
    host: str = "*",
) -> AclBinding:
    kind = PatternType.PREFIXED if prefixed else PatternType.LITERAL
    pattern = ResourcePattern(ResourceType.TOPIC, name, kind)
    return AclBinding(pattern, AccessEntry(who, host, operation, permission))


def deny(name: str, operation: Operation = READ, **options: object) -> AclBinding:
    return rule(name, operation, Permission.DENY, **options)  # type: ignore[arg-type]


def may(*rules: AclBinding, who: Principal = ALICE, operation: Operation = READ) -> bool:
    return Authorizer(AclSet(rules), super_users=[ROOT]).authorize(who, HOST, operation, ORDERS)


@pytest.mark.parametrize(
    ("rules", "allowed"),
    [
        ([], False),
        ([rule("orders")], True),
        ([rule("*")], True),
        ([rule("ord", prefixed=True)], True),
        ([rule("orders2", prefixed=True)], False),
        ([rule("other")], False),
        ([rule("orders", WRITE)], False),
        ([rule("orders", Operation.ALL)], True),
        ([rule("orders", who="User:bob")], False),
        ([rule("orders", who="User:*")], True),
        ([rule("orders", host="10.0.0.2")], False),
        ([rule("orders"), deny("orders")], False),
        ([rule("orders"), deny("*", Operation.ALL)], False),
        ([rule("orders"), deny("o", prefixed=True)], False),
        ([rule("orders"), deny("orders", WRITE)], True),
        ([rule("orders"), deny("orders", who="User:bob")], True),
        ([rule("orders"), deny("orders", host="10.0.0.2")], True),
    ],
)
def test_deny_overrides_allow_and_nothing_is_allowed_by_default(
    rules: list[AclBinding], allowed: bool
) -> None:
    assert may(*rules) is allowed


def test_super_users_may_do_anything() -> None:
    assert may(deny("orders", Operation.ALL, who="User:*"), who=ROOT)


def test_resources_without_rules_can_be_open() -> None:
    authorizer = Authorizer(AclSet([rule("other")]), allow_everyone_if_no_acl_found=True)
    assert authorizer.authorize(BOB, HOST, WRITE, ORDERS)
    assert not authorizer.authorize(BOB, HOST, READ, Resource(ResourceType.TOPIC, "other"))


def test_types_are_apart() -> None:
    authorizer = Authorizer(AclSet([rule("orders")]))
    assert not authorizer.authorize(ALICE, HOST, READ, Resource(ResourceType.GROUP, "orders"))
    assert not authorizer.authorize(ALICE, HOST, DESCRIBE, CLUSTER)


@pytest.mark.parametrize(
    ("rules", "allowed"),
    [
        ([], False),
        ([rule("orders", WRITE)], True),
        ([rule("orders", READ)], False),
        ([rule("orders", WRITE), deny("orders", WRITE)], False),
        ([rule("orders", WRITE), deny("ord", WRITE, prefixed=True)], False),
        ([rule("ord", WRITE, prefixed=True), deny("orders", WRITE)], True),
        ([rule("orders", WRITE), deny("*", WRITE)], False),
        ([rule("*", WRITE), deny("ord", WRITE, prefixed=True)], True),
        ([rule("ord", WRITE, prefixed=True), deny("or", WRITE, prefixed=True)], False),
    ],
)
def test_any_resource_of_the_type_suffices(rules: list[AclBinding], allowed: bool) -> None:
    authorizer = Authorizer(AclSet(rules), super_users=[ROOT])
    assert authorizer.authorize_any(ALICE, HOST, WRITE, ResourceType.TOPIC) is allowed
    assert authorizer.authorize_any(ROOT, HOST, WRITE, ResourceType.TOPIC)


def test_any_resource_when_open() -> None:
    authorizer = Authorizer(allow_everyone_if_no_acl_found=True)
    assert authorizer.authorize_any(ALICE, HOST, WRITE, ResourceType.TOPIC)
    authorizer.acls = AclSet([deny("*", WRITE)])
    assert not authorizer.authorize_any(ALICE, HOST, WRITE, ResourceType.TOPIC)


def test_a_set_changes_as_a_whole() -> None:
    first, second = rule("a"), rule("b")
    acls = AclSet([first])
    more = acls.with_added([second, first])
    assert (len(acls), len(more)) == (1, 2)
    assert more.matching(AclFilter(name="b")) == [second]
    fewer = more.without(more.matching(AclFilter(name="a")))
    assert first not in fewer
    assert second in fewer


def test_a_decision_holds_as_long_as_the_rules() -> None:
    authorizer = Authorizer()
    assert not authorizer.authorize(ALICE, HOST, READ, ORDERS)
    authorizer.acls = authorizer.acls.with_added([rule("orders")])
    assert authorizer.authorize(ALICE, HOST, READ, ORDERS)
    assert authorizer.authorize(ALICE, HOST, READ, ORDERS)
    authorizer.acls = authorizer.acls.without([rule("orders")])
    assert not authorizer.authorize(ALICE, HOST, READ, ORDERS)


def test_few_decisions_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("barnabas.security.authorizer.MAX_REMEMBERED", 3)
    authorizer = Authorizer(AclSet([rule("orders")]))
    for number in range(10):
        resource = Resource(ResourceType.TOPIC, f"other{number}")
        assert not authorizer.authorize(ALICE, HOST, READ, resource)
        assert authorizer.authorize(ALICE, HOST, READ, ORDERS)
