"""Groups of the ZooKeeper high-level consumer, for `kafka-consumer-groups --zookeeper`.

Their offsets are in ZooKeeper (/consumers/GROUP/offsets/TOPIC/PARTITION), not in the brokers.
"""

import argparse
import asyncio
from typing import TYPE_CHECKING

from barnabas.cli.apache.flags import say
from barnabas.cli.apache.groups import tables
from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.exit_codes import DONE
from barnabas.cli.framework.settings import BOOTSTRAP
from barnabas.cli.framework.zookeeper_brokers import CONNECT_SECONDS, brokers_in
from barnabas.cli.group_verbs.lag import PartitionLag
from barnabas.cli.reading.spans import edges_of
from barnabas.model.errors import ConfigError
from barnabas.model.ids import TopicPartition

if TYPE_CHECKING:
    from barnabas.zk.tree import MetadataTree


def list_or_describe(arguments: argparse.Namespace) -> int:
    """What Apache's old tool did with --zookeeper: --list and --describe."""
    if arguments.list:
        for group in asyncio.run(_groups(arguments.zookeeper)):
            say(group)
        return DONE
    if not arguments.describe or not arguments.group:
        raise ConfigError("with --zookeeper there is --list, and --describe with --group")
    for group in arguments.group:
        committed = asyncio.run(_offsets(arguments.zookeeper, group))
        with Connection({BOOTSTRAP: brokers_in(arguments.zookeeper)}).admin() as admin:
            edges = edges_of(admin, committed)
        tables.print_offsets(
            [
                PartitionLag(group, place, offset, edges[place].end, None)
                for place, offset in sorted(committed.items())
            ]
        )
    return DONE


async def _groups(connect: str) -> list[str]:
    from barnabas.zk import paths

    tree = await _open(connect)
    try:
        return sorted(await _children(tree, paths.CONSUMERS))
    finally:
        await tree.close()


async def _offsets(connect: str, group: str) -> dict[TopicPartition, int]:
    from barnabas.zk import paths
    from barnabas.zk.consumer_znodes import decode_offset

    tree = await _open(connect)
    root = f"{paths.CONSUMERS}/{group}/offsets"
    found = {}
    try:
        for topic in await _children(tree, root):
            for number in await _children(tree, f"{root}/{topic}"):
                data, _ = await tree.get(f"{root}/{topic}/{number}")
                found[TopicPartition(topic, int(number))] = decode_offset(data)
    finally:
        await tree.close()
    return found


async def _open(connect: str) -> "MetadataTree":
    from barnabas.zk.kazoo_tree import connect as open_session

    return await open_session(connect, connect_timeout_s=CONNECT_SECONDS)


async def _children(tree: "MetadataTree", path: str) -> list[str]:
    from barnabas.zk.tree import NoNodeError

    try:
        return list(await tree.children(path))
    except NoNodeError:
        return []
