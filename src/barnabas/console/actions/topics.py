"""Actions on topics and their records, and the commands that read what a page shows."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from barnabas.console.actions.action import (
    Action,
    ApiAction,
    ConsoleAddress,
    alter_configs,
    config_options,
)
from barnabas.records.documents import decode_bytes


def create_topic(
    name: str, partitions: int | None, replication_factor: int | None, configs: Mapping[str, str]
) -> Action:
    cli = ["topics", "create", name]
    arguments = [repr(name)]
    if partitions is not None:
        cli += ["--partitions", str(partitions)]
        arguments.append(f"partitions={partitions}")
    if replication_factor is not None:
        cli += ["--replication-factor", str(replication_factor)]
        arguments.append(f"replication_factor={replication_factor}")
    for key, value in configs.items():
        cli += ["--config", f"{key}={value}"]
    if configs:
        arguments.append(f"configs={dict(configs)!r}")
    body = {
        "name": name,
        "partitions": partitions,
        "replication_factor": replication_factor,
        "configs": dict(configs),
    }
    python = f"admin.create_topic({', '.join(arguments)})"
    return Action("Create topic", "POST", "/topics", body, cli, python)


def delete_topic(name: str) -> Action:
    cli = ["topics", "delete", name, "--yes"]
    python = f"admin.delete_topic({name!r})"
    return Action("Delete topic", "DELETE", f"/topics/{quote(name)}", None, cli, python)


def add_partitions(name: str, total: int) -> Action:
    return Action(
        "Add partitions",
        "POST",
        f"/topics/{quote(name)}/partitions",
        {"total": total},
        ["topics", "alter", name, "--partitions", str(total)],
        f"admin.create_partitions({{{name!r}: {total}}}).check()",
    )


def alter_topic_configs(name: str, values: Mapping[str, str], reset: Sequence[str]) -> Action:
    cli = ["topics", "alter", name]
    cli += config_options("--config", "--delete-config", values, reset)
    return alter_configs(f"topic({name!r})", f"/topics/{quote(name)}/configs", cli, values, reset)


def delete_records(name: str, offsets: Mapping[int, int] | None) -> Action:
    """Deletes records before an offset of each partition; without offsets, all records."""
    path = f"/topics/{quote(name)}/delete-records"
    imports = ["from barnabas import TopicPartition"]
    if offsets is None:
        return Action(
            "Delete records",
            "POST",
            path,
            {},
            ["records", "delete", name, "--offset", "end", "--yes"],
            f"topic = admin.describe_topic({name!r})\n"
            f"admin.delete_records({{TopicPartition({name!r}, item.partition): HIGH_WATERMARK "
            "for item in topic.partitions}).check()",
            imports=[*imports, "from barnabas.admin import HIGH_WATERMARK"],
        )
    [(partition, offset)] = offsets.items()
    return Action(
        "Delete records",
        "POST",
        path,
        {"offsets": {str(partition): offset}},
        ["records", "delete", f"{name}:{partition}", "--offset", str(offset), "--yes"],
        f"admin.delete_records({{TopicPartition({name!r}, {partition}): {offset}}}).check()",
        imports=imports,
    )


def produce_record(topic: str, record: Mapping[str, Any]) -> Action:
    """`record` has the fields of the API's NewRecord."""
    key = decode_bytes(record.get("key"), record.get("key_encoding"))
    value = decode_bytes(record.get("value"), record.get("value_encoding"))
    headers = [
        (item["name"], decode_bytes(item.get("value"), item.get("encoding")))
        for item in record.get("headers", ())
    ]
    arguments = [repr(topic), repr(value)]
    if key is not None:
        arguments.append(f"key={key!r}")
    if headers:
        arguments.append(f"headers={headers!r}")
    for name in ("partition", "timestamp"):
        if record.get(name) is not None:
            arguments.append(f"{name}={record[name]}")
    python = f"producer.send({', '.join(arguments)}).result()"
    return Action(
        "Produce", "POST", f"/topics/{topic}/records", {"records": [dict(record)]},
        _produce_command(topic, record), python, (), "Producer", "producer",
    )  # fmt: skip


def _produce_command(topic: str, record: Mapping[str, Any]) -> list[str]:
    """Returns arguments of `barnabas produce`; bytes that are not text need a file."""
    headers = record.get("headers", ())
    encodings = [record.get("key_encoding"), record.get("value_encoding")]
    encodings += [item.get("encoding") for item in headers]
    if "base64" in encodings:
        return ["produce", topic, "records.jsonl", "--format", "json"]
    command = ["produce", topic]
    if record.get("key") is not None:
        command += ["--key", record["key"]]
    command += ["--tombstone"] if record.get("value") is None else ["--value", record["value"]]
    for item in headers:
        value = item.get("value")
        command += ["--header", item["name"] if value is None else f"{item['name']}={value}"]
    for name in ("partition", "timestamp"):
        if record.get(name) is not None:
            command += [f"--{name}", str(record[name])]
    return command


def produce_file(topic: str, file_format: str, name: str = "records.jsonl") -> Action:
    """Writes each line of a file as a record; the page sends the bytes of the file."""
    lines = file_format == "lines"
    if lines:
        python = f"""with open({name!r}, encoding="utf-8") as lines:
    for line in lines:
        producer.send({topic!r}, line.rstrip("\\n"))"""
    else:
        python = f"""with open({name!r}, encoding="utf-8") as lines:
    for document in map(json.loads, lines):
        producer.send({topic!r}, document["value"], key=document["key"])"""
    return Action(
        "Produce file",
        "POST",
        f"/topics/{topic}/records/import",
        None,
        ["produce", topic, name, "--format", "lines" if lines else "json"],
        python,
        () if lines else ("import json",),
        "Producer",
        "producer",
        {"file_format": file_format},
    )


def search_records(topic: str, query: Mapping[str, object], console: ConsoleAddress) -> ApiAction:
    path = f"/topics/{topic}/records/search"
    return ApiAction("Search", "GET", path, None, console, query)


def read_records(topic: str, query: Mapping[str, Any]) -> Action:
    """The page that a query of `GET /topics/{topic}/records` shows, as command and program."""
    limit = int(query.get("limit") or 50)
    partition = query.get("partition")
    command = ["consume", topic]
    if partition is not None:
        command += ["--partition", str(partition)]
    start = query.get("start", "newest")
    if start == "newest":
        command += ["--tail", str(limit)]
    else:
        until = "" if query.get("until") is None else f":{query['until']}"
        time = f"@{query.get('time')}{until}"
        first = {"offset": query.get("offset"), "time": time}.get(start, "start")
        command += ["--offset", str(first), "--count", str(limit)]
    number = 0 if partition is None else partition
    position = {
        "newest": f"max(0, consumer.latest_offset({topic!r}, {number}) - {limit})",
        "oldest": f"consumer.earliest_offset({topic!r}, {number})",
        "offset": str(query.get("offset")),
        "time": f"consumer.offset_for_time({topic!r}, {number}, {query.get('time')}).offset",
    }[start]
    python = (
        f"start = {position}\n"
        f"for record in consumer.fetch({topic!r}, {number}, start).records()[:{limit}]:\n"
        "    print(record.offset, record.key, record.value)"
    )
    path = f"/topics/{topic}/records"
    return Action(
        "Read", "GET", path, None, command, python, (), "SimpleConsumer", "consumer", dict(query)
    )
