"""The API of topics on a real broker."""

from support.console.requests import call


async def test_a_topic_is_created_and_listed(api, topic_name):
    status, body = await api("POST", "/topics", {"name": topic_name, "partitions": 2})
    assert (status, body) == (201, {"name": topic_name, "partitions": 2, "replication_factor": 1})
    status, page = await api("GET", f"/topics?search={topic_name.upper()}")
    assert (status, page["total"]) == (200, 1)
    row = page["items"][0]
    assert (row["name"], row["partitions"], row["offline"]) == (topic_name, 2, 0)


async def test_errors_have_a_code_and_a_message(api, topic_name):
    await api("POST", "/topics", {"name": topic_name})
    status, body = await api("POST", "/topics", {"name": topic_name})
    assert (status, body["code"]) == (409, "TOPIC_ALREADY_EXISTS")
    status, body = await api("POST", "/topics", {"name": "x", "partitons": 1})
    assert (status, body["code"]) == (422, "INVALID_REQUEST")
    assert "partitons" in body["message"]
    status, body = await api("GET", "/nothing")
    assert (status, body["code"]) == (404, "NOT_FOUND")


async def test_a_body_without_the_type_json(api):
    """`curl -d '{…}'` without a header sends a form."""
    kind = {"content-type": "application/x-www-form-urlencoded"}
    path = "/api/v1/topics"
    status, body, _ = await call(api.application, "POST", path, {"name": "x"}, headers=kind)
    assert (status, body["code"]) == (422, "INVALID_REQUEST")
    assert body["message"].endswith("; send the header Content-Type: application/json")
