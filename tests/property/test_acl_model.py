"""The indexed rules decide as a plain walk over all of them does."""

from hypothesis import given
from hypothesis import strategies as st

from barnabas.security.acl import (
    AccessEntry,
    AclBinding,
    Operation,
    PatternType,
    Permission,
    Resource,
    ResourcePattern,
    ResourceType,
)
from barnabas.security.authorizer import AclSet, Authorizer
from barnabas.security.principal import Principal

NAMES = st.text("ab", min_size=1, max_size=4)
TYPES = st.sampled_from([ResourceType.TOPIC, ResourceType.GROUP])
OPERATIONS = st.sampled_from([Operation.READ, Operation.WRITE, Operation.DESCRIBE])
USERS = st.sampled_from(["u", "v"])
HOSTS = st.sampled_from(["1.1.1.1", "2.2.2.2"])

PATTERNS = st.builds(
    ResourcePattern,
    TYPES,
    NAMES | st.just("*"),
    st.sampled_from([PatternType.LITERAL, PatternType.PREFIXED]),
)
ENTRIES = st.builds(
    AccessEntry,
    (USERS | st.just("*")).map(lambda name: f"User:{name}"),
    HOSTS | st.just("*"),
    OPERATIONS | st.just(Operation.ALL),
    st.sampled_from([Permission.ALLOW, Permission.ALLOW, Permission.DENY]),
)
RULES = st.lists(st.builds(AclBinding, PATTERNS, ENTRIES), max_size=12)


@given(RULES, st.builds(Resource, TYPES, NAMES), USERS, HOSTS, OPERATIONS, st.booleans())
def test_decisions_equal_the_plain_walk(
    rules: list[AclBinding],
    resource: Resource,
    user: str,
    host: str,
    operation: Operation,
    is_open: bool,
) -> None:
    principal = Principal("User", user)
    covering = [
        rule.entry
        for rule in rules
        if rule.pattern.type is resource.type and rule.pattern.covers(resource.name)
    ]
    mine = [entry for entry in covering if entry.applies_to(principal, host)]
    expected = (
        is_open
        if not covering
        else any(entry.allows(operation) for entry in mine)
        and not any(entry.denies(operation) for entry in mine)
    )
    authorizer = Authorizer(AclSet(rules), allow_everyone_if_no_acl_found=is_open)
    assert authorizer.authorize(principal, host, operation, resource) is expected


@given(RULES, USERS, HOSTS, OPERATIONS, st.lists(NAMES, min_size=1))
def test_access_to_one_topic_is_access_to_some_topic(
    rules: list[AclBinding], user: str, host: str, operation: Operation, names: list[str]
) -> None:
    principal = Principal("User", user)
    authorizer = Authorizer(AclSet(rules))
    some = any(
        authorizer.authorize(principal, host, operation, Resource(ResourceType.TOPIC, name))
        for name in names
    )
    if some:
        assert authorizer.authorize_any(principal, host, operation, ResourceType.TOPIC)
