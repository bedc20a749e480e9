from dataclasses import replace

import pytest

from barnabas.security.acl import (
    AccessEntry,
    AclBinding,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from barnabas.security.principal import Principal

ALICE = Principal("User", "alice")
ENTRY = AccessEntry("User:alice", "*", Operation.READ, Permission.ALLOW)
TOPIC = ResourcePattern(ResourceType.TOPIC, "orders")
BINDING = AclBinding(TOPIC, ENTRY)


def test_labels_are_read_in_every_spelling() -> None:
    assert Operation.DESCRIBE_CONFIGS.label == "DescribeConfigs"
    assert Operation.from_label("DescribeConfigs") is Operation.DESCRIBE_CONFIGS
    assert ResourceType.from_label("transactional-id") is ResourceType.TRANSACTIONAL_ID
    with pytest.raises(ValueError, match="unknown Operation"):
        Operation.from_label("fly")


@pytest.mark.parametrize(
    ("pattern", "name", "covered"),
    [
        (TOPIC, "orders", True),
        (TOPIC, "orders2", False),
        (replace(TOPIC, name="*"), "anything", True),
        (replace(TOPIC, name="ord", pattern=PatternType.PREFIXED), "orders", True),
        (replace(TOPIC, name="*", pattern=PatternType.PREFIXED), "orders", False),
    ],
)
def test_a_pattern_covers_the_names_it_describes(
    pattern: ResourcePattern, name: str, covered: bool
) -> None:
    assert pattern.covers(name) is covered


@pytest.mark.parametrize(
    ("entry", "concerned"),
    [
        (ENTRY, True),
        (replace(ENTRY, principal="User:*"), True),
        (replace(ENTRY, principal="User:bob"), False),
        (replace(ENTRY, principal="Group:*"), False),
        (replace(ENTRY, host="10.0.0.1"), True),
        (replace(ENTRY, host="10.0.0.2"), False),
    ],
)
def test_the_principals_and_hosts_of_an_entry(entry: AccessEntry, concerned: bool) -> None:
    assert entry.applies_to(ALICE, "10.0.0.1") is concerned


def test_allowing_implies_describing_and_denying_does_not() -> None:
    for operation in (Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER):
        assert replace(ENTRY, operation=operation).allows(Operation.DESCRIBE)
        deny = replace(ENTRY, operation=operation, permission=Permission.DENY)
        assert not deny.denies(Operation.DESCRIBE)
        assert deny.denies(operation)
    assert replace(ENTRY, operation=Operation.ALTER_CONFIGS).allows(Operation.DESCRIBE_CONFIGS)
    assert not replace(ENTRY, operation=Operation.DESCRIBE).allows(Operation.READ)
    assert replace(ENTRY, operation=Operation.ALL).allows(Operation.WRITE)
    everything = replace(ENTRY, operation=Operation.ALL, permission=Permission.DENY)
    assert everything.denies(Operation.DESCRIBE)


@pytest.mark.parametrize(
    "binding",
    [
        replace(BINDING, pattern=replace(TOPIC, pattern=PatternType.MATCH)),
        replace(BINDING, pattern=replace(TOPIC, type=ResourceType.ANY)),
        replace(BINDING, pattern=replace(TOPIC, name="")),
        replace(BINDING, pattern=ResourcePattern(ResourceType.CLUSTER, "mine")),
        replace(BINDING, entry=replace(ENTRY, operation=Operation.ANY)),
        replace(BINDING, entry=replace(ENTRY, permission=Permission.ANY)),
        replace(BINDING, entry=replace(ENTRY, principal="alice")),
        replace(BINDING, entry=replace(ENTRY, host="")),
    ],
)
def test_an_invalid_binding_has_a_problem(binding: AclBinding) -> None:
    assert binding.problem()


def test_a_valid_binding_has_no_problem() -> None:
    assert BINDING.problem() is None
    assert replace(BINDING, entry=replace(ENTRY, operation=Operation.ALL)).problem() is None
    idle = replace(BINDING, entry=replace(ENTRY, operation=Operation.CLUSTER_ACTION))
    assert (idle.problem(), BINDING.idle_problem()) == (None, None)
    assert idle.idle_problem()


@pytest.mark.parametrize(
    ("acl_filter", "matches"),
    [
        (AclFilter(), True),
        (AclFilter(ResourceType.TOPIC, "orders", PatternType.LITERAL), True),
        (AclFilter(ResourceType.GROUP), False),
        (AclFilter(name="order"), False),
        (AclFilter(name="orders", pattern=PatternType.PREFIXED), False),
        (AclFilter(name="orders", pattern=PatternType.MATCH), True),
        (AclFilter(pattern=PatternType.MATCH), True),
        (AclFilter(principal="User:bob"), False),
        (AclFilter(host="10.0.0.1"), False),
        (AclFilter(operation=Operation.WRITE), False),
        (AclFilter(permission=Permission.DENY), False),
        (AclFilter(permission=Permission.ALLOW, operation=Operation.READ), True),
    ],
)
def test_a_filter_matches_the_acls_it_describes(acl_filter: AclFilter, matches: bool) -> None:
    assert acl_filter.matches(BINDING) is matches


def test_match_finds_prefixes_and_wildcards() -> None:
    wanted = AclFilter(ResourceType.TOPIC, "orders", PatternType.MATCH)
    prefixed = ResourcePattern(ResourceType.TOPIC, "ord", PatternType.PREFIXED)
    assert wanted.matches(AclBinding(prefixed, ENTRY))
    assert wanted.matches(AclBinding(replace(TOPIC, name="*"), ENTRY))
