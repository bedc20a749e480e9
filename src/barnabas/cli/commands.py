"""The table of commands: the module and the one-line summary of each."""

from typing import NamedTuple


class Command(NamedTuple):
    """A subcommand. `apache` marks tools with exactly the flags of Apache Kafka's tools."""

    module: str
    summary: str
    apache: bool = False


def _own(module: str, summary: str) -> Command:
    return Command(f"barnabas.cli.{module}", summary)


def _noun(module: str, summary: str) -> Command:
    return _own(f"nouns.{module}", summary)


def _apache(module: str, summary: str) -> Command:
    return Command(f"barnabas.cli.apache.{module}", summary, apache=True)


COMMANDS: dict[str, Command] = {
    "up": _own("servers.up", "run an embedded broker in the foreground"),
    "broker": _own("servers.broker", "run a broker from a server.properties file"),
    "console": _own("servers.console", "serve the web console of a cluster"),
    "zookeeper": _own("servers.zookeeper", "run a ZooKeeper server, or a shell on one"),
    "topics": _noun("topics", "list, create, describe, alter, delete, copy, dump, restore"),
    "configs": _noun("configs", "describe and alter configurations"),
    "groups": _noun("groups", "list, describe, reset, delete, copy, watch consumer groups"),
    "consume": _noun("consume", "read records"),
    "produce": _noun("produce", "write records"),
    "offsets": _noun("offsets", "start and end offsets of partitions, or the offset at a time"),
    "records": _noun("records", "delete records up to an offset"),
    "cluster": _noun("cluster", "brokers, controller, versions"),
    "acls": _noun("acls", "list, add and remove ACLs"),
    "transactions": _noun("transactions", "list, describe, abort transactions"),
    "sql": _noun("sql", "SQL statements on topics: streams, tables and queries, run by Spark"),
    "test": _noun("test", "run SQL test cases: statements, input and expected rows in files"),
    "pipeline": _noun("pipeline", "run and list pipelines on Spark, show their status"),
    "log-dirs": _noun("log_dirs", "sizes of the logs on the brokers' disks"),
    "dump-log": _noun("dump_log", "print segment, index, snapshot and checkpoint files"),
    "perf": _noun("perf", "measure produce and consume throughput"),
    "top": _noun("top", "live view of brokers, topics and groups with rates and lag"),
    "metrics": _noun("metrics", "print the metrics of a broker; dashboards and alert rules"),
    "doctor": _noun("doctor", "find out why a cluster is unreachable or unhealthy"),
    "install-scripts": _own("install_scripts", "write kafka-topics.sh and the other script names"),
    "completion": _own("completion", "shell completion for bash, zsh and fish"),
    "kafka-topics": _apache("topics", "kafka-topics.sh"),
    "kafka-configs": _apache("configs", "kafka-configs.sh"),
    "kafka-consumer-groups": _apache("consumer_groups", "kafka-consumer-groups.sh"),
    "kafka-console-consumer": _apache("console_consumer", "kafka-console-consumer.sh"),
    "kafka-console-producer": _apache("console_producer", "kafka-console-producer.sh"),
    "kafka-get-offsets": _apache("get_offsets", "kafka-get-offsets.sh, GetOffsetShell"),
    "kafka-delete-records": _apache("delete_records", "kafka-delete-records.sh"),
    "kafka-log-dirs": _apache("log_dirs", "kafka-log-dirs.sh"),
    "kafka-leader-election": _apache("leader_election", "kafka-leader-election.sh"),
    "kafka-reassign-partitions": _apache("reassign_partitions", "kafka-reassign-partitions.sh"),
    "kafka-acls": _apache("acls", "kafka-acls.sh"),
    "kafka-delegation-tokens": _apache("delegation_tokens", "kafka-delegation-tokens.sh"),
    "kafka-transactions": _apache("transactions", "kafka-transactions.sh"),
    "kafka-producer-perf-test": _apache("perf_producer", "kafka-producer-perf-test.sh"),
    "kafka-consumer-perf-test": _apache("perf_consumer", "kafka-consumer-perf-test.sh"),
    "kafka-dump-log": _apache("dump_log", "kafka-dump-log.sh"),
    "kafka-run-class": _apache("run_class", "kafka-run-class.sh with a tool's class name"),
    "kafka-server-start": _apache("kafka_server_start", "kafka-server-start.sh"),
    "zookeeper-server-start": _apache("zookeeper_server_start", "zookeeper-server-start.sh"),
    "zookeeper-shell": _apache("zookeeper_shell", "zookeeper-shell.sh"),
}

ALIASES = {
    "topic": "topics",
    "config": "configs",
    "group": "groups",
    "offset": "offsets",
    "record": "records",
    "acl": "acls",
    "transaction": "transactions",
    "txn": "transactions",
    "pipelines": "pipeline",
}


def find(name: str) -> Command | None:
    """Returns the command of this name or alias; Apache tools are also found with `.sh`."""
    found = COMMANDS.get(name.removesuffix(".sh"))
    if found is not None and found.apache:
        return found
    return COMMANDS.get(ALIASES.get(name, name))
