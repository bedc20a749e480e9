"""Configuration of new topics, and the wait for a deletion."""

import asyncio

import pytest

from barnabas.broker.metadata_cache import MetadataCache
from barnabas.broker.topics import Topics, check_topic_configs
from barnabas.controller.topic_admin import TopicAdmin
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import Uuid
from barnabas.runtime.clock import SystemClock
from barnabas.zk import paths
from barnabas.zk.sqlite_tree import EmbeddedStore


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"retention.mss": "5"}, "'retention.mss'; did you mean 'retention.ms'?"),
        ({"wholly.other": "5"}, "unknown topic configuration 'wholly.other'"),
        ({"retention.ms": None}, "retention.ms needs a value"),
    ],
)
def test_a_wrong_configuration_is_named(given, message):
    with pytest.raises(BrokerError) as raised:
        check_topic_configs(given)
    assert raised.value.code is ErrorCode.INVALID_CONFIG
    assert str(raised.value).endswith(message)


async def test_the_wait_for_a_deletion_does_not_decode_the_node_of_the_topic():
    """It looks every few milliseconds, and the node names all partitions."""
    store = EmbeddedStore(SystemClock())
    tree = store.session()
    path = paths.topic("t")
    await tree.ensure_path(path)
    await tree.set(path, b"not a topic")
    topics = Topics(TopicAdmin(tree), MetadataCache(), None, None, None)
    waiting = asyncio.create_task(topics.wait_until_gone("t", Uuid(bytes(range(16))), 10_000))
    while not waiting.done() and waiting.get_coro().cr_await is None:
        await asyncio.sleep(0)
    assert not waiting.done()
    await tree.delete(path)
    await waiting
    await store.close()
