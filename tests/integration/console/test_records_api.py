"""The API of records on a real broker."""

import base64
import json

import httpx
import pytest

from barnabas import Producer
from barnabas.console.api_client import ApiClient
from barnabas.console.security.identity import ConsoleUser, Role

HOSTILE = [
    b"<script>alert(1)</script>",
    b"\x1b[31mred\x1b[0m",
    b"broken \xff\xfe utf-8",
    "\u202ereversed".encode(),
    b"",
    b"[" * 100_000,
]


@pytest.fixture
def produce(broker, topic_name, admin):
    """Creates the test's topic with one partition and writes values to it."""

    def write(values, **options):
        with Producer(bootstrap_servers=broker.bootstrap_servers, **options) as producer:
            for value in values:
                producer.send(topic_name, value, key=b"k", partition=0)

    admin.create_topic(topic_name, partitions=1)
    return write


async def events(api, path):
    client = ApiClient(api.application, lambda: ConsoleUser("tester", Role.ADMIN))
    return [event async for event in client.events(path)]


async def content(api, path):
    client = ApiClient(api.application, lambda: ConsoleUser("tester", Role.ADMIN))
    async with client.stream("GET", path) as response:
        return await response.aread(), response.headers


def offsets(page):
    return [item["offset"] for item in page["items"]]


async def test_pages_forward_and_backward_cover_the_topic(api, produce, topic_name):
    produce([b"%d" % number for number in range(25)])
    status, page = await api("GET", f"/topics/{topic_name}/records?limit=10")
    assert (status, offsets(page), page["next"]) == (200, list(range(15, 25)), "")
    _, page = await api("GET", f"/topics/{topic_name}/records?limit=10&cursor={page['previous']}")
    assert offsets(page) == list(range(5, 15))
    _, page = await api("GET", f"/topics/{topic_name}/records?limit=10&cursor={page['previous']}")
    assert (offsets(page), page["previous"]) == (list(range(5)), "")
    _, page = await api("GET", f"/topics/{topic_name}/records?limit=20&start=oldest")
    assert offsets(page) == list(range(20))
    _, page = await api("GET", f"/topics/{topic_name}/records?cursor={page['next']}")
    assert (offsets(page), page["next"]) == (list(range(20, 25)), "")
    _, page = await api(
        "GET", f"/topics/{topic_name}/records?limit=3&start=offset&offset=7&partition=0"
    )
    assert offsets(page) == [7, 8, 9]
    time = page["items"][2]["timestamp"]
    _, page = await api("GET", f"/topics/{topic_name}/records?start=time&time={time}")
    assert page["items"][0]["timestamp"] == time


async def test_a_record_has_batch_codec_and_exact_bytes(api, produce, topic_name):
    produce([b'{"a": [1, 2]}', b"\xff\x00"], compression_type="gzip")
    status, found = await api("GET", f"/topics/{topic_name}/partitions/0/records/0")
    record = found["record"]
    assert (status, record["value"]["format"]) == (200, "json")
    assert json.loads(record["value"]["text"]) == {"a": [1, 2]}
    assert (record["batch"]["codec"], record["batch"]["magic"]) == ("gzip", 2)
    assert record["batch"]["producer_id"] >= 0
    assert (record["transaction"], record["control"]) == (None, None)
    _, found = await api("GET", f"/topics/{topic_name}/partitions/0/records/1")
    assert found["record"]["value"]["format"] == "hex"
    assert base64.b64decode(found["raw_value"]["text"]) == b"\xff\x00"
    status, error = await api("GET", f"/topics/{topic_name}/partitions/0/records/9")
    assert (status, error["code"]) == (404, "RECORD_NOT_FOUND")
    status, error = await api("GET", f"/topics/{topic_name}/partitions/7/records/0")
    assert (status, error["code"]) == (400, "UNKNOWN_PARTITION")


async def test_transactions_are_shown_as_committed_aborted_and_open(api, broker, topic_name, admin):
    admin.create_topic(topic_name, partitions=1)
    config = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": topic_name}
    with Producer(config) as producer:
        producer.init_transactions()
        for value, end in ((b"kept", "commit"), (b"dropped", "abort"), (b"pending", None)):
            producer.begin_transaction()
            producer.send(topic_name, value, partition=0)
            producer.flush()
            if end is not None:
                getattr(producer, f"{end}_transaction")()
        _, page = await api("GET", f"/topics/{topic_name}/records?start=oldest")
        shown = [(item["value"]["text"], item["transaction"]) for item in page["items"]]
        producer.abort_transaction()
    assert [item for item in shown if item[1]] == [
        ("kept", "committed"),
        ("dropped", "aborted"),
        ("pending", "open"),
    ]
    controls = [item["control"] for item in page["items"] if item["control"]]
    assert controls == ["commit", "abort"]


async def test_hostile_contents_are_plain_escaped_text(api, produce, topic_name):
    produce(HOSTILE)
    status, page = await api("GET", f"/topics/{topic_name}/records?start=oldest")
    texts = [item["value"]["text"] for item in page["items"]]
    assert status == 200
    assert texts[0] == "<script>alert(1)</script>"
    assert texts[1] == "\\x1b[31mred\\x1b[0m"
    assert page["items"][2]["value"]["format"] == "hex"
    assert texts[3] == "\\u202ereversed"
    assert page["items"][4]["value"]["size"] == 0
    assert page["items"][5]["value"]["truncated"]


async def test_a_large_value_is_cut_and_downloaded_whole(api, broker, topic_name, admin):
    admin.create_topic(topic_name, partitions=1, configs={"max.message.bytes": "60000000"})
    value = b"x" * 50_000_000
    config = {
        "bootstrap.servers": broker.bootstrap_servers,
        "max.request.size": 60_000_000,
        "compression.type": "gzip",
        "buffer.memory": 120_000_000,
    }
    with Producer(config) as producer:
        producer.send(topic_name, value, partition=0).result(60)
    _, page = await api("GET", f"/topics/{topic_name}/records")
    shown = page["items"][0]["value"]
    assert (shown["size"], shown["truncated"], len(shown["text"])) == (50_000_000, True, 400)
    _, found = await api("GET", f"/topics/{topic_name}/partitions/0/records/0")
    assert (len(found["record"]["value"]["text"]), found["raw_value"]) == (65536, None)
    data, _ = await content(api, f"/topics/{topic_name}/partitions/0/records/0/value")
    assert data == value


@pytest.mark.parametrize(
    ("kind", "query", "wanted"),
    [
        ("text", "NAME-7", [7]),
        ("regex", r"name-1\d\b", list(range(10, 20))),
        ("jsonpath", "$[?@.n > 17]", []),
        ("jsonpath", "$.items[?@.n > 17]", [18, 19]),
        ("expression", "value.items[0].n == 3 and key == 'k'", [3]),
        ("expression", "any(i.n > 18 for i in value.items) or offset == 0", [0, 19]),
        ("expression", "headers.missing == 'x'", []),
    ],
)
async def test_searches(api, produce, topic_name, kind, query, wanted):
    produce([json.dumps({"name": f"name-{n}", "items": [{"n": n}]}).encode() for n in range(20)])
    found = await events(
        api,
        f"/topics/{topic_name}/records/search?" + str(httpx.QueryParams(kind=kind, query=query)),
    )
    matches = [item["offset"] for event in found for item in event["matches"]]
    assert matches == wanted
    assert found[-1]["finished"]
    assert (found[-1]["scanned"], found[-1]["total"], found[-1]["position"]) == (20, 20, 20)


async def test_a_mistake_in_a_search_is_an_error_of_the_request(api, produce, topic_name):
    for kind, query in (("regex", "("), ("jsonpath", "$["), ("expression", "__import__('os')")):
        params = httpx.QueryParams(kind=kind, query=query)
        status, error = await api("GET", f"/topics/{topic_name}/records/search?{params}")
        assert (status, error["code"]) == (400, "INVALID_SEARCH"), error


async def test_records_are_produced_and_the_tail_shows_them(api, produce, topic_name):
    client = ApiClient(api.application, lambda: ConsoleUser("tester", Role.ADMIN))
    tail = client.events(f"/topics/{topic_name}/records/tail")
    assert await anext(tail) == {"items": [], "skipped": 0}
    body = {
        "records": [
            {
                "key": "a",
                "value": "/w==",
                "value_encoding": "base64",
                "headers": [{"name": "h", "value": "1"}],
                "timestamp": 1000,
            },
            {"key": "a", "value": None},
        ]
    }
    status, sent = await api("POST", f"/topics/{topic_name}/records", body)
    assert (status, [item["offset"] for item in sent["records"]]) == (201, [0, 1])
    shown = []
    while len(shown) < 2:
        shown += (await anext(tail))["items"]
    await tail.aclose()
    assert [item["value"]["format"] for item in shown] == ["hex", "null"]
    assert (shown[0]["timestamp"], shown[0]["headers"][0]["value"]["text"]) == (1000, "1")
    wrong = {"records": [{"value": "!", "value_encoding": "base64"}]}
    status, error = await api("POST", f"/topics/{topic_name}/records", wrong)
    assert (status, error["code"]) == (400, "INVALID_RECORD")
    status, error = await api("POST", f"/topics/{topic_name}-typo/records", body)
    assert (status, error["code"]) == (404, "UNKNOWN_TOPIC_OR_PARTITION")


async def test_files_of_three_formats(api, produce, topic_name, tmp_path):
    import pyarrow.parquet as pq

    produce([b"one", b"\xff", b'a,"b"\n'])
    data, headers = await content(api, f"/topics/{topic_name}/records/download")
    documents = [json.loads(line) for line in data.splitlines()]
    assert [item["value"] for item in documents] == ["one", "/w==", 'a,"b"\n']
    assert f"{topic_name}.jsonl" in headers["content-disposition"]
    data, _ = await content(api, f"/topics/{topic_name}/records/download?query=one&file_format=csv")
    assert data.decode().splitlines()[1].split(",")[6] == "one"
    data, _ = await content(api, f"/topics/{topic_name}/records/download?file_format=parquet")
    path = tmp_path / "records.parquet"
    path.write_bytes(data)
    table = pq.read_table(path)
    assert table.column("value").to_pylist() == [b"one", b"\xff", b'a,"b"\n']


async def test_a_downloaded_file_is_imported(api, produce, topic_name):
    produce([b"one", b"\xff"])
    data, _ = await content(api, f"/topics/{topic_name}/records/download")
    path = f"/api/v1/topics/{topic_name}/records/import"
    transport = httpx.ASGITransport(api.application)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        response = await client.post(path, content=data)
        assert (response.status_code, response.json()["records"]) == (201, 2)
        response = await client.post(f"{path}?file_format=lines", content=b"x\n\ny")
        assert response.json()["records"] == 2
        response = await client.post(path, content=b'{"value": "v"}\n{]')
        assert "line 2" in response.json()["message"]
    _, page = await api("GET", f"/topics/{topic_name}/records?start=oldest")
    texts = [item["value"]["text"] for item in page["items"]]
    assert (texts[4:], texts[2]) == (["x", "y", "v"], "one")


async def test_the_topic_of_committed_offsets_is_decoded(api, broker, produce, topic_name):
    from barnabas import SimpleConsumer, TopicPartition

    produce([b"v"])
    with SimpleConsumer(bootstrap_servers=broker.bootstrap_servers) as consumer:
        consumer.commit(f"group-{topic_name}", {TopicPartition(topic_name, 0): 1})
    params = httpx.QueryParams(kind="expression", query=f"key.group == 'group-{topic_name}'")
    found = await events(api, f"/topics/__consumer_offsets/records/search?{params}")
    (match,) = [
        item
        for event in found
        for item in event["matches"]
        if "OffsetCommitKey" in item["key"]["text"]
    ]
    assert match["key"]["format"] == "internal"
    assert json.loads(match["value"]["text"])["offset"] == 1
