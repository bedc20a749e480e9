"""zookeeper-shell: show and change the nodes of a running ZooKeeper."""

import argparse

from barnabas.cli.servers import zookeeper_shell

EXAMPLE = "barnabas zookeeper-shell localhost:2181 ls /brokers/ids"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    zookeeper_shell.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    return zookeeper_shell.run(arguments)
