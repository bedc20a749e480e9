"""Consume-transform-produce through a chain of topics, in small transactions of several members.

    python -m benchmarks.transactional_chain [--brokers 3] [--records 20000] [--bootstrap host:port]

Three stages with three members each; one member of each stage leaves after two transactions. Most
of the time goes into the transactions, not the records: each one adds partitions, writes, commits
offsets and ends, and every step waits for the in-sync replicas. `--bootstrap` measures another
cluster, Apache Kafka for example. Prints records a second, the latency of commits, and what is
lost, doubled or reordered, which must be nothing.
"""

import argparse
import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic

from barnabas.testing import Cluster

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.transactions.chain import problems, run_chain

PARTITIONS = (7, 11, 31, 7)
LIMIT_SECONDS = 600


@contextlib.contextmanager
def servers(bootstrap: str | None, brokers: int) -> Iterator[str]:
    if bootstrap is not None:
        yield bootstrap
        return
    with Cluster(brokers) as cluster:
        yield cluster.bootstrap_servers


def measure(address: str, replicas: int, records: int) -> None:
    admin = AdminClient({"bootstrap.servers": address})
    topics = [f"chain-{time.time_ns()}-{stage}" for stage in range(len(PARTITIONS))]
    wanted = [NewTopic(name, n, replicas) for name, n in zip(topics, PARTITIONS, strict=True)]
    for created in admin.create_topics(wanted).values():
        created.result(30)
    began = time.perf_counter()
    copiers, found = run_chain(address, topics, records, timeout_s=LIMIT_SECONDS)
    seconds = time.perf_counter() - began
    latencies = sorted(latency for copier in copiers for latency in copier.latencies)
    print(f"{records} records through {len(topics) - 1} stages in {seconds:.1f} s")
    print(f"{len(latencies)} commits, {sum(copier.aborted for copier in copiers)} aborts")
    if latencies:
        for share in (50, 95, 99):
            print(f"  commit p{share}: {latencies[len(latencies) * share // 100] * 1e3:.1f} ms")
    print(problems(found, records), [str(c.error) for c in copiers if c.error])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--brokers", type=int, default=3)
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--bootstrap")
    arguments = parser.parse_args()
    with servers(arguments.bootstrap, arguments.brokers) as address:
        measure(address, min(arguments.brokers, 3), arguments.records)


if __name__ == "__main__":
    main()
