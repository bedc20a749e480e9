"""Writes COMPATIBILITY.md from the broker's list of handlers; --check compares only."""

import sys
from pathlib import Path

from barnabas.broker.handlers import HANDLERS
from barnabas.wire.api_keys import ApiKey, request_class
from scripts.generated_page import table, write_or_check

PAGE = Path("COMPATIBILITY.md")
COMMAND = "python -m scripts.compatibility"

_KIP_714 = "served while the broker has an HTTP endpoint (`http.listener`), which shows the metrics"
_KIP_896 = "older versions were removed by KIP-896"

NOTES: dict[ApiKey, str] = {
    ApiKey.PRODUCE: "versions 0 to 2 are advertised but rejected, as in Kafka, because old"
    " librdkafka versions need it (KAFKA-18659)",
    ApiKey.FETCH: _KIP_896,
    ApiKey.LIST_OFFSETS: f"{_KIP_896}; without tiered storage the earliest local offset is the"
    " earliest one",
    ApiKey.OFFSET_COMMIT: _KIP_896,
    ApiKey.OFFSET_FETCH: _KIP_896,
    ApiKey.CREATE_TOPICS: _KIP_896,
    ApiKey.DELETE_TOPICS: _KIP_896,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: _KIP_896,
    ApiKey.DESCRIBE_CONFIGS: _KIP_896,
    ApiKey.ALTER_CONFIGS: "for tools older than Kafka 2.3; newer tools use IncrementalAlterConfigs",
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: "eligible leader replicas exist only in KRaft; empty",
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: _KIP_714,
    ApiKey.PUSH_TELEMETRY: _KIP_714,
}

NOT_SERVED: dict[ApiKey, str] = {
    ApiKey.LEADER_AND_ISR: "from controller to broker, not for clients",
    ApiKey.STOP_REPLICA: "from controller to broker, not for clients",
    ApiKey.UPDATE_METADATA: "from controller to broker, not for clients",
    ApiKey.CONTROLLED_SHUTDOWN: "from broker to controller, not for clients",
    ApiKey.ALTER_PARTITION: "from broker to controller, not for clients",
    ApiKey.ALLOCATE_PRODUCER_IDS: "from broker to controller, not for clients",
    ApiKey.UPDATE_FEATURES: "feature levels exist only in KRaft clusters",
}

LEFT_OUT = [
    [
        "KRaft: Vote, BeginQuorumEpoch, DescribeQuorum, FetchSnapshot, BrokerRegistration,"
        " BrokerHeartbeat, AddRaftVoter and related APIs",
        "clusters are coordinated by ZooKeeper, a single broker by its embedded tree",
    ],
    [
        "share groups and streams groups (KIP-932, KIP-1071)",
        "classic and consumer groups are served",
    ],
    ["tiered storage (KIP-405)", "logs are local"],
    ["record formats 0 and 1", "the log holds format 2 only, as in Kafka 4"],
]

TRIED = """\

## The clients with other brokers

The tests of the clients run against any cluster with `--kafka-external=host:port`. They pass on
Apache Kafka 4.1.0 and 3.6.2 (KRaft). If an older broker (tested with 2.4.1) does not support a
field of a request, the admin client raises an error that names the field.
"""

INTRODUCTION = """\
# Compatibility

The APIs and versions that the broker serves, and the versions that the clients use with any broker.
This page is generated from the list of handlers.
"""


def main() -> int:
    served = {handler.api: handler for handler in HANDLERS}
    rows = []
    for api in ApiKey:
        handler = served.get(api)
        low, high = handler.versions if handler else (0, -1)
        speaks = request_class(api)
        note = NOTES.get(api, "") if handler else NOT_SERVED.get(api, "")
        rows.append(
            [
                str(int(api)),
                _spelled(api),
                _range(low, high),
                _range(speaks.MIN_VERSION, speaks.MAX_VERSION),
                note,
            ]
        )
    parts = [
        INTRODUCTION,
        table(["key", "API", "broker serves", "clients speak", "notes"], rows),
        "\n## Left out on purpose\n",
        table(["what", "why"], LEFT_OUT),
        TRIED,
    ]
    return write_or_check(PAGE, "\n".join(parts), COMMAND)


def _spelled(api: ApiKey) -> str:
    return "".join(word.capitalize() for word in api.name.split("_"))


def _range(low: int, high: int) -> str:
    if high < low:
        return "no"
    return str(low) if low == high else f"{low} to {high}"


if __name__ == "__main__":
    sys.exit(main())
