"""List, create, describe, alter and delete topics; copy, dump and restore their records."""

import argparse
from typing import TYPE_CHECKING, Any

from barnabas.admin import (
    AlterOperation,
    ConfigChange,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewTopic,
    TopicDescription,
)
from barnabas.cli.framework.connection import Connection, key_values
from barnabas.cli.framework.options import (
    add_common_options,
    add_config_option,
    add_confirmation_options,
    add_dry_run_option,
    confirmed,
)
from barnabas.cli.framework.output import (
    DONE,
    FAILED,
    exit_code,
    show,
    show_document,
    status_of,
    table_text,
)
from barnabas.cli.framework.verbs import Verb, add_verbs, in_module, run_verb
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, ConfigError

if TYPE_CHECKING:
    from barnabas.admin import Admin

COPY_EXAMPLE = "barnabas topics copy orders orders -b old:9092 --to-bootstrap-server new:9092"
DUMP_EXAMPLE = "barnabas topics dump orders -o @-1h:end --output orders.ndjson.gz"
RESTORE_EXAMPLE = "barnabas topics restore orders-copy --input orders.ndjson.gz"
LIST_COLUMNS = ("name", "partitions", "replication_factor", "internal")
CREATE_COLUMNS = ("name", "partitions", "replication_factor", "status", "message")
STATUS_COLUMNS = ("name", "status", "message")
PARTITION_COLUMNS = ("partition", "leader", "leader_epoch", "replicas", "isr", "offline_replicas")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_verbs(parser, VERBS)


run = run_verb


# -- list --------------------------------------------------------------------------------------


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--internal", action="store_true", help="include internal topics")
    add_common_options(parser)


def _list(arguments: argparse.Namespace) -> int:
    with Connection.of(arguments).admin() as admin:
        listed = [t.name for t in admin.list_topics(internal=arguments.internal)]
        topics = admin.describe_topics(listed).ok.values()
    show(arguments, [_summary(topic) for topic in topics], LIST_COLUMNS)
    return DONE


def _summary(topic: "TopicDescription") -> dict[str, object]:
    return {
        "name": topic.name,
        "topic_id": str(topic.topic_id),
        "partitions": len(topic.partitions),
        "replication_factor": topic.replication_factor,
        "internal": topic.internal,
    }


# -- create ------------------------------------------------------------------------------------


def _create_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="+", metavar="TOPIC")
    parser.add_argument(
        "-p", "--partitions", type=int, default=-1, help="(default: num.partitions of the broker)"
    )
    parser.add_argument("-r", "--replication-factor", type=int, default=-1)
    parser.add_argument(
        "--if-not-exists", action="store_true", help="do nothing for a topic that exists"
    )
    add_config_option(parser, "a topic setting, repeatable")
    add_dry_run_option(parser)
    add_common_options(parser)


def _create(arguments: argparse.Namespace) -> int:
    configs: dict[str, str | None] = dict(key_values(arguments.config, "--config"))
    wanted = [
        NewTopic(name, arguments.partitions, arguments.replication_factor, configs)
        for name in arguments.names
    ]
    with Connection.of(arguments).admin() as admin:
        results = admin.create_topics(wanted, validate_only=arguments.dry_run)
    errors = results.errors
    if arguments.if_not_exists:
        errors = _without(errors, ErrorCode.TOPIC_ALREADY_EXISTS)
    rows = []
    for name in arguments.names:
        made = results.ok.get(name)
        counts = {
            "partitions": made.partitions if made else None,
            "replication_factor": made.replication_factor if made else None,
        }
        rows.append({"name": name, **counts, **status_of(errors.get(name))})
    show(arguments, rows, CREATE_COLUMNS)
    return exit_code(errors)


def _without(errors: dict[Any, BarnabasError], code: ErrorCode) -> dict[Any, BarnabasError]:
    return {
        item: error
        for item, error in errors.items()
        if not (isinstance(error, BrokerError) and error.code is code)
    }


# -- describe ----------------------------------------------------------------------------------


def _describe_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="*", default=[], metavar="TOPIC", help="(default: all topics)"
    )
    parser.add_argument(
        "--under-replicated", action="store_true", help="only partitions with replicas out of sync"
    )
    add_common_options(parser)


def _describe(arguments: argparse.Namespace) -> int:
    with Connection.of(arguments).admin() as admin:
        names = arguments.names or [topic.name for topic in admin.list_topics()]
        results = admin.describe_topics(names)
        documents = [_document(admin, t, arguments.under_replicated) for t in results.ok.values()]
    if arguments.format in ("json", "yaml"):
        show(arguments, documents, ())
    else:
        show_document(arguments, {}, "\n".join(_described(document) for document in documents))
    if results.errors:
        results.check()
    return DONE


def _document(admin: "Admin", topic: "TopicDescription", under_only: bool) -> dict[str, object]:
    partitions = [
        {
            "partition": item.partition,
            "leader": item.leader,
            "leader_epoch": item.leader_epoch,
            "replicas": list(item.replicas),
            "isr": list(item.isr),
            "offline_replicas": list(item.offline_replicas),
        }
        for item in topic.partitions
        if item.under_replicated or not under_only
    ]
    configs = {entry.name: entry.value for entry in set_configs(admin, topic.name)}
    return {**_summary(topic), "configs": configs, "partition_details": partitions}


def set_configs(admin: "Admin", topic: str) -> list["ConfigEntry"]:
    """Returns the configuration entries that are set on the topic itself."""
    resource = ConfigResource.topic(topic)
    entries = admin.describe_configs([resource])[resource].values()
    return [e for e in entries if e.source is ConfigSource.DYNAMIC_TOPIC_CONFIG]


def _described(document: dict[str, Any]) -> str:
    configs = ", ".join(f"{key}={value}" for key, value in document["configs"].items())
    lines = [
        f"NAME                {document['name']}",
        f"TOPIC-ID            {document['topic_id']}",
        f"PARTITIONS          {document['partitions']}",
        f"REPLICATION-FACTOR  {document['replication_factor']}",
        f"INTERNAL            {'yes' if document['internal'] else 'no'}",
        f"CONFIGS             {configs or '-'}",
        "",
        table_text(document["partition_details"], PARTITION_COLUMNS),
    ]
    return "\n".join(lines)


# -- alter -------------------------------------------------------------------------------------


def _alter_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="+", metavar="TOPIC")
    parser.add_argument("-p", "--partitions", type=int, help="increase to this number")
    add_config_option(parser, "set a topic setting, repeatable")
    parser.add_argument(
        "--delete-config", metavar="KEY", action="append", default=[], help="reset to the default"
    )
    add_dry_run_option(parser)
    add_common_options(parser)


def _alter(arguments: argparse.Namespace) -> int:
    changes = [ConfigChange(k, v) for k, v in key_values(arguments.config, "--config").items()]
    changes += [ConfigChange(k, None, AlterOperation.DELETE) for k in arguments.delete_config]
    if not changes and arguments.partitions is None:
        raise ConfigError("nothing to alter: give --partitions, --config or --delete-config")
    errors: dict[str, BarnabasError] = {}
    dry = arguments.dry_run
    with Connection.of(arguments).admin() as admin:
        if changes:
            per_topic = {ConfigResource.topic(name): changes for name in arguments.names}
            altered = admin.alter_configs(per_topic, validate_only=dry).errors
            errors.update({resource.name: error for resource, error in altered.items()})
        if arguments.partitions is not None:
            wanted = dict.fromkeys(arguments.names, arguments.partitions)
            errors.update(admin.create_partitions(wanted, validate_only=dry).errors)
    rows = [{"name": name, **status_of(errors.get(name))} for name in arguments.names]
    show(arguments, rows, STATUS_COLUMNS)
    return exit_code(errors)


# -- delete ------------------------------------------------------------------------------------


def _delete_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="+", metavar="TOPIC")
    parser.add_argument("--if-exists", action="store_true", help="ignore topics that do not exist")
    add_confirmation_options(parser)
    add_common_options(parser)


def _delete(arguments: argparse.Namespace) -> int:
    names: list[str] = arguments.names
    with Connection.of(arguments).admin() as admin:
        if arguments.dry_run:
            errors = dict(admin.describe_topics(names).errors)
        elif not confirmed(arguments, f"delete {', '.join(names)} with all records"):
            return FAILED
        else:
            errors = dict(admin.delete_topics(names).errors)
    if arguments.if_exists:
        errors = _without(errors, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    rows = [{"name": name, **status_of(errors.get(name))} for name in names]
    show(arguments, rows, STATUS_COLUMNS)
    return exit_code(errors)


VERBS = (
    Verb(
        "list", "list topics", "barnabas topics list --format json", _list_arguments, _list, ("ls",)
    ),
    Verb(
        "create",
        "create topics",
        "barnabas topics create orders -p 3 -c retention.ms=86400000",
        _create_arguments,
        _create,
    ),
    Verb(
        "describe",
        "show partitions, replicas and settings of topics",
        "barnabas topics describe orders",
        _describe_arguments,
        _describe,
    ),
    Verb(
        "alter",
        "add partitions, change settings",
        "barnabas topics alter orders -p 6 -c cleanup.policy=compact --delete-config retention.ms",
        _alter_arguments,
        _alter,
    ),
    Verb(
        "delete",
        "delete topics",
        "barnabas topics delete orders --yes",
        _delete_arguments,
        _delete,
        ("rm",),
    ),
    Verb(
        "copy",
        "copy the records of a topic to another, in this cluster or another one",
        COPY_EXAMPLE,
        *in_module("nouns.topic_dump", "copy"),
    ),
    Verb(
        "dump",
        "write the records of a topic to a file, without loss",
        DUMP_EXAMPLE,
        *in_module("nouns.topic_dump", "dump"),
    ),
    Verb(
        "restore",
        "write the records of a dump to a topic",
        RESTORE_EXAMPLE,
        *in_module("nouns.topic_dump", "restore"),
    ),
)
