"""One topic through the API: partitions, groups, configuration, histogram, changes."""

import pytest

from barnabas import Consumer, Producer

HOUR_MS = 3_600_000
START_MS = 1_700_000_000_000


@pytest.fixture
async def topic(api, broker, topic_name):
    """A topic with 30 records in three hours, and a group that read ten."""
    await api("POST", "/topics", {"name": topic_name, "partitions": 2})
    settings = {"bootstrap.servers": broker.bootstrap_servers}
    with Producer(settings) as producer:
        for number in range(30):
            producer.send(
                topic_name,
                value=b"%d" % number,
                partition=0,
                timestamp=START_MS + (number // 10) * HOUR_MS,
            )
    group = {**settings, "group.id": f"group-{topic_name}", "auto.offset.reset": "earliest"}
    with Consumer({**group, "enable.auto.commit": False}) as consumer:
        consumer.assign([(topic_name, 0)])
        consumer.poll(10)
        consumer.commit({(topic_name, 0): 10})
    return topic_name


async def test_partitions_have_offsets_replicas_and_the_positions_of_groups(api, topic):
    console = api.application.state.console
    async for _ in console.rates.follow():
        break
    status, page = await api("GET", f"/topics/{topic}/partitions")
    assert (status, page["total"]) == (200, 2)
    first = page["items"][0]
    assert (first["log_start_offset"], first["high_watermark"]) == (0, 30)
    assert first["groups"] == [{"group": f"group-{topic}", "offset": 10, "lag": 20}]
    [replica] = first["replicas"]
    assert (replica["leader"], replica["in_sync"], replica["online"]) == (True, True, True)
    assert replica["size_bytes"] > 0
    _, page = await api("GET", f"/topics?search={topic}")
    assert (page["items"][0]["groups"], page["items"][0]["lag"]) == (1, 20)


async def test_records_are_counted_by_time(api, topic):
    status, found = await api("GET", f"/topics/{topic}/histogram?buckets=3")
    assert status == 200
    assert [bucket["records"] for bucket in found["buckets"]] == [10, 10, 10]
    end = START_MS + HOUR_MS
    path = f"/topics/{topic}/histogram?buckets=2&start_ms={START_MS}&end_ms={end}"
    _, part = await api("GET", path)
    assert [bucket["records"] for bucket in part["buckets"]] == [10, 0]


async def test_an_empty_topic_has_an_empty_histogram(api, topic_name):
    await api("POST", "/topics", {"name": topic_name})
    _, found = await api("GET", f"/topics/{topic_name}/histogram")
    assert found["buckets"] == []


async def test_the_configuration_is_changed_and_reset(api, topic):
    body = {"values": {"retention.ms": "60000"}}
    assert (await api("PATCH", f"/topics/{topic}/configs", body))[0] == 204
    _, items = await api("GET", f"/topics/{topic}/configs")
    item = next(item for item in items if item["name"] == "retention.ms")
    assert (item["value"], item["is_default"]) == ("60000", False)
    assert item["default"] == "168 (log.retention.hours)"
    await api("PATCH", f"/topics/{topic}/configs", {"reset": ["retention.ms"]})
    _, items = await api("GET", f"/topics/{topic}/configs")
    assert next(item for item in items if item["name"] == "retention.ms")["is_default"]
    status, body = await api("PATCH", f"/topics/{topic}/configs", {"values": {"retention.ms": "x"}})
    assert (status, body["code"]) == (400, "INVALID_CONFIG")


async def test_partitions_are_added_and_records_deleted(api, topic):
    assert (await api("POST", f"/topics/{topic}/partitions", {"total": 3}))[0] == 204
    _, detail = await api("GET", f"/topics/{topic}")
    assert detail["partitions"] == 3
    status, body = await api("POST", f"/topics/{topic}/partitions", {"total": 2})
    assert (status, body["code"]) == (400, "INVALID_PARTITIONS")
    _, deleted = await api("POST", f"/topics/{topic}/delete-records", {"offsets": {"0": 12}})
    assert deleted["log_start_offsets"] == {"0": 12}
    _, deleted = await api("POST", f"/topics/{topic}/delete-records", {})
    assert deleted["log_start_offsets"] == {"0": 30, "1": 0, "2": 0}


async def test_a_topic_is_deleted(api, topic):
    assert (await api("DELETE", f"/topics/{topic}"))[0] == 204
    status, body = await api("GET", f"/topics/{topic}")
    assert (status, body["code"]) == (404, "UNKNOWN_TOPIC_OR_PARTITION")
