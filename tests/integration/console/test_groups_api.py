"""The API of groups on a real broker."""

import pytest

from barnabas import Consumer, Producer


@pytest.fixture
def records(broker, topic_name):
    """Writes ten records to a topic of one partition."""
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        for number in range(10):
            producer.send(topic_name, str(number), partition=0)
    return topic_name


def read_and_commit(consumer, topic, count):
    consumer.subscribe([topic])
    seen = 0
    while seen < count:
        seen += sum(len(batch) for batch in consumer.poll(timeout=5.0).values())
    consumer.commit()


@pytest.fixture
def group(broker, records):
    """A group that has read ten of fifteen records and has no members."""
    name = f"group-{records}"
    config = {"bootstrap.servers": broker.bootstrap_servers, "group.id": name}
    with Consumer(config, auto_offset_reset="earliest", enable_auto_commit=False) as consumer:
        read_and_commit(consumer, records, 10)
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        for number in range(5):
            producer.send(records, str(number), partition=0)
    return name


async def test_a_group_is_listed_with_its_lag(api, group):
    status, page = await api("GET", f"/groups?search={group}")
    assert (status, page["total"]) == (200, 1)
    row = page["items"][0]
    assert (row["name"], row["state"], row["lag"], row["members"]) == (group, "Empty", 5, 0)
    assert row["lag_seconds"] is not None


async def test_a_group_is_described_by_partition(api, group, records):
    status, body = await api("GET", f"/groups/{group}")
    assert status == 200
    partition = body["partitions"][0]
    assert (partition["topic"], partition["committed"], partition["lag"]) == (records, 10, 5)
    assert body["lag"]["records"] == 5


async def test_a_reset_is_previewed_then_applied(api, group, admin_offsets):
    status, plan = await api("POST", f"/groups/{group}/reset-plan", {"rule": "earliest"})
    assert (status, plan["again"], plan["skipped"], plan["blocked"]) == (200, 10, 0, None)
    assert admin_offsets(group) == [10]
    status, plan = await api("POST", f"/groups/{group}/reset", {"rule": "shift", "value": -3})
    assert (status, plan["again"]) == (200, 3)
    assert admin_offsets(group) == [7]
    time = {"rule": "time", "time": "2100-01-01T00:00:00Z"}
    status, plan = await api("POST", f"/groups/{group}/reset", time)
    assert (status, plan["skipped"]) == (200, 8)


@pytest.fixture
def admin_offsets(broker):
    from barnabas import Admin

    def offsets(group):
        with Admin({"bootstrap.servers": broker.bootstrap_servers}) as admin:
            return [at.offset for at in admin.list_group_offsets([group])[group].values()]

    return offsets


async def test_a_group_with_members_is_not_reset_and_its_members_can_be_removed(
    api, broker, records
):
    name = f"active-{records}"
    config = {"bootstrap.servers": broker.bootstrap_servers, "group.id": name}
    with Consumer(config, auto_offset_reset="earliest", client_id="reader") as consumer:
        read_and_commit(consumer, records, 10)
        status, body = await api("POST", f"/groups/{name}/reset", {"rule": "earliest"})
        assert (status, body["code"]) == (409, "NON_EMPTY_GROUP")
        assert "reader@" in body["message"]
        status, body = await api("POST", f"/groups/{name}/remove-members", {})
        assert (status, body) == (200, {"removed": 1, "errors": {}})
        status, body = await api("POST", f"/groups/{name}/remove-members", {"members": ["x"]})
        assert (status, body["code"]) == (404, "UNKNOWN_MEMBER_ID")


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
async def test_rebalances_name_members_that_joined_and_left(api, broker, records, protocol):
    name = f"{protocol}-{records}"
    config = {"bootstrap.servers": broker.bootstrap_servers, "group.id": name}
    for client in ("one", "two"):
        with Consumer(
            config, auto_offset_reset="earliest", client_id=client, group_protocol=protocol
        ) as consumer:
            consumer.subscribe([records])
            assert consumer.wait_for_assignment(timeout=60)
    status, body = await api("GET", f"/groups/{name}/rebalances")
    assert (status, body["complete"]) == (200, True)
    joined = [member for item in body["items"] for member in item["joined"]]
    left = [member for item in body["items"] for member in item["left"]]
    assert [member.partition("@")[0] for member in joined] == ["two", "one"]
    assert "one" in [member.partition("@")[0] for member in left]


async def test_a_group_is_deleted(api, group):
    status, _ = await api("DELETE", f"/groups/{group}")
    assert status == 204
    status, body = await api("GET", f"/groups/{group}")
    assert (status, body["code"]) == (404, "GROUP_ID_NOT_FOUND")


async def test_an_unknown_group_and_an_incomplete_reset_are_errors(api):
    status, body = await api("GET", "/groups/does-not-exist")
    assert (status, body["code"]) == (404, "GROUP_ID_NOT_FOUND")
    status, body = await api("POST", "/groups/g/reset", {"rule": "offset"})
    assert (status, body["code"]) == (422, "INVALID_REQUEST")
    assert "needs a value" in body["message"]
