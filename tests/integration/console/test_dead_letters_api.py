"""The API of dead letters on a real broker."""

import asyncio

import pytest

from barnabas import Producer
from barnabas.console.api_client import ApiClient
from barnabas.console.security.identity import ConsoleUser, Role


@pytest.fixture
def letters(broker, topic_name, admin):
    """A source topic, and its dead-letter topic with three letters of two reasons."""
    dead = f"{topic_name}.dlq"
    admin.create_topic(topic_name, partitions=2)
    admin.create_topic(dead, partitions=1)
    with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number, reason in enumerate(("ValueError", "ValueError", "KeyError")):
            headers = [
                ("own", b"kept"),
                ("dlq.topic", topic_name.encode()),
                ("dlq.partition", b"1"),
                ("dlq.offset", b"%d" % number),
                ("dlq.error.class", reason.encode()),
                ("dlq.error.message", b"bad <b>value</b>"),
            ]
            producer.send(dead, b"v%d" % number, key=b"k", headers=headers, timestamp=1000)
    return dead


async def resend(application, dead, offsets, **more):
    client = ApiClient(application, lambda: ConsoleUser("tester", Role.ADMIN))
    body = {"letters": [{"partition": 0, "offset": at} for at in offsets], **more}
    body.setdefault("per_second", 1000)
    path = f"/dead-letters/{dead}/resend"
    return [event async for event in client.events(path, method="POST", body=body)]


async def test_letters_are_grouped_by_source_and_reason(api, letters, topic_name):
    _, topics = await api("GET", "/dead-letters")
    assert {"name": letters, "partitions": 1, "letters": 3} in topics
    _, found = await api("GET", f"/dead-letters/{letters}/groups")
    groups = [(item["source"], item["reason"], item["letters"]) for item in found["groups"]]
    assert groups == [(topic_name, "ValueError", 2), (topic_name, "KeyError", 1)]
    assert found["complete"]
    _, page = await api("GET", f"/dead-letters/{letters}/letters?reason=KeyError")
    (letter,) = page["items"]
    assert (letter["source_partition"], letter["source_offset"]) == (1, 2)
    assert (letter["message"], letter["resent"]) == ("bad <b>value</b>", False)


async def test_a_letter_is_sent_back_once(api, letters, topic_name):
    events = await resend(api.application, letters, [0, 1, 0])
    assert (events[-1]["sent"], events[-1]["skipped"], events[-1]["finished"]) == (2, 1, True)
    _, page = await api("GET", f"/topics/{topic_name}/records?start=oldest")
    shown = [item for item in page["items"] if not item["control"]]
    assert [item["value"]["text"] for item in shown] == ["v0", "v1"]
    assert {item["partition"] for item in shown} == {1}
    headers = {item["name"]: item["value"]["text"] for item in shown[0]["headers"]}
    assert headers == {"own": "kept", "resent.from": f"{letters}/0/0"}
    assert (shown[0]["timestamp"], shown[0]["transaction"]) == (1000, "committed")
    _, page = await api("GET", f"/dead-letters/{letters}/letters")
    assert [item["resent"] for item in page["items"]] == [False, True, True]


async def test_two_consoles_send_a_letter_back_once(api, broker, letters, topic_name):
    from support.console.requests import api_of

    other = api_of(broker.bootstrap_servers)
    results = await asyncio.gather(
        resend(api.application, letters, [0, 1, 2]), resend(other, letters, [2, 1, 0])
    )
    again = await resend(api.application, letters, [0, 1, 2])
    await other.state.console.close()
    _, page = await api("GET", f"/topics/{topic_name}/records?start=oldest")
    values = sorted(
        item["value"]["text"] for item in page["items"] if item["transaction"] == "committed"
    )
    assert values == ["v0", "v1", "v2"], results
    # Consoles that fence each other may report a letter as failed; it is then not sent, either.
    assert (again[-1]["skipped"] + again[-1]["sent"], again[-1]["failed"]) == (3, 0), results


async def test_an_edited_letter_and_another_target(api, letters, topic_name, admin):
    other = f"{topic_name}-other"
    admin.create_topic(other, partitions=1)
    edited = {"key": "new", "value": "fixed", "headers": [{"name": "h", "value": "1"}]}
    events = await resend(api.application, letters, [0], edited=edited, target=other)
    assert events[-1]["last"] == {"topic": other, "partition": 0, "offset": 0}
    _, found = await api("GET", f"/topics/{other}/partitions/0/records/0")
    assert (found["raw_key"]["text"], found["raw_value"]["text"]) == ("new", "fixed")


async def test_mistakes_are_errors_of_the_request_or_the_letter(api, letters):
    body = {"letters": [{"partition": 0, "offset": 0}, {"partition": 0, "offset": 1}]}
    status, error = await api("POST", f"/dead-letters/{letters}/resend", {**body, "edited": {}})
    assert (status, error["code"]) == (400, "INVALID_RESEND")
    status, error = await api("POST", f"/dead-letters/{letters}/resend", {**body, "target": "no"})
    assert (status, error["code"]) == (404, "UNKNOWN_TOPIC_OR_PARTITION")
    events = await resend(api.application, letters, [99])
    assert events[-1]["failed"] == 1
    assert "no record at offset 99" in events[-1]["problem"]


async def test_the_rate_is_limited(api, letters):
    loop = asyncio.get_running_loop()
    started = loop.time()
    await resend(api.application, letters, [0, 1, 2], per_second=5)
    assert loop.time() - started >= 0.4
