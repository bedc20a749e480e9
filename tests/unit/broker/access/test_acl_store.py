"""ACLs in the metadata tree: Kafka's layout, two brokers, and concurrent writers."""

import asyncio
import json

from barnabas.broker.access.acl_store import AclStore
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
from barnabas.security.authorizer import Authorizer

ORDERS = ResourcePattern(ResourceType.TOPIC, "orders")
ORD = ResourcePattern(ResourceType.GROUP, "ord", PatternType.PREFIXED)


def rule(pattern, user="alice", operation=Operation.READ, permission=Permission.ALLOW):
    return AclBinding(pattern, AccessEntry(f"User:{user}", "*", operation, permission))


async def new_store(tree, clock):
    store = AclStore(tree, [Authorizer()], clock)
    await store.load()
    return store


async def turns(condition):
    for _ in range(2000):
        if condition():
            return True
        await asyncio.sleep(0)
    return condition()


async def test_the_layout_is_kafkas(tree, clock):
    store = await new_store(tree, clock)
    await store.add([rule(ORDERS), rule(ORD, operation=Operation.DESCRIBE_CONFIGS)])
    data, _ = await tree.get("/kafka-acl/Topic/orders")
    assert json.loads(data) == {
        "version": 1,
        "acls": [
            {
                "principal": "User:alice",
                "permissionType": "Allow",
                "operation": "Read",
                "host": "*",
            }
        ],
    }
    data, _ = await tree.get("/kafka-acl-extended/prefixed/Group/ord")
    assert json.loads(data)["acls"][0]["operation"] == "DescribeConfigs"
    (change,) = await tree.children("/kafka-acl-changes")
    assert (await tree.get(f"/kafka-acl-changes/{change}"))[0] == b"Topic:orders"
    (change,) = await tree.children("/kafka-acl-extended-changes")
    assert json.loads((await tree.get(f"/kafka-acl-extended-changes/{change}"))[0]) == {
        "version": 1,
        "resourceType": "GROUP",
        "name": "ord",
        "patternType": "PREFIXED",
    }


async def test_stored_acls_are_loaded_again(tree, clock):
    await (await new_store(tree, clock)).add([rule(ORDERS), rule(ORD), rule(ORDERS, "bob")])
    again = await new_store(tree, clock)
    assert len(again.acls) == 3
    assert rule(ORD) in again.acls


async def test_a_rule_that_is_there_is_not_written_again(tree, clock):
    store = await new_store(tree, clock)
    await store.add([rule(ORDERS)])
    await store.add([rule(ORDERS)])
    assert len(await tree.children("/kafka-acl-changes")) == 1


async def test_removing_one_rule_leaves_the_others(tree, clock):
    """CVE-2024-27309 lost rules when another was deleted."""
    store = await new_store(tree, clock)
    await store.add([rule(ORDERS), rule(ORDERS, "bob"), rule(ORD)])
    assert await store.remove(AclFilter(principal="User:bob")) == [rule(ORDERS, "bob")]
    assert len((await new_store(tree, clock)).acls) == 2
    await store.remove(AclFilter(resource_type=ResourceType.TOPIC))
    assert await tree.exists("/kafka-acl/Topic/orders") is None
    assert rule(ORD) in store.acls


async def test_other_brokers_follow(tree, clock):
    one, other = await new_store(tree, clock), await new_store(tree, clock)
    other.start()
    try:
        await one.add([rule(ORDERS), rule(ORD)])
        assert await turns(lambda: len(other.acls) == 2)
        await one.remove(AclFilter(resource_type=ResourceType.TOPIC))
        assert await turns(lambda: len(other.acls) == 1)
        await tree.create("/kafka-acl-changes/acl_changes_", b"Nonsense:x", sequential=True)
        await one.add([rule(ORDERS, "bob")])
        assert await turns(lambda: rule(ORDERS, "bob") in other.acls)
    finally:
        await other.stop()


async def test_writers_that_meet_lose_nothing(tree, clock):
    stores = [await new_store(tree, clock) for _ in range(4)]
    users = [f"user{number}" for number in range(12)]
    await asyncio.gather(*(stores[n % 4].add([rule(ORDERS, user)]) for n, user in enumerate(users)))
    assert len((await new_store(tree, clock)).acls) == 12


async def test_old_notifications_go(tree, clock):
    store = await new_store(tree, clock)
    await store.add([rule(ORDERS)])
    clock.advance(16 * 60 * 1000)
    store.start()
    try:
        await store.add([rule(ORDERS, "bob")])

        async def names():
            return await tree.children("/kafka-acl-changes")

        for _ in range(2000):
            if len(await names()) == 1:
                break
            await asyncio.sleep(0)
        assert len(await names()) == 1
    finally:
        await store.stop()
