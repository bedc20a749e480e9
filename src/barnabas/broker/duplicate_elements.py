"""Removes repeated elements from requests.

A response has a result for each element of its request. A small frame could repeat a group, topic
or resource a hundred thousand times, and its response would be very large. APIs with short results,
such as FindCoordinator, are excluded: as in Kafka, they return a result for every repetition.
"""

from collections.abc import Callable, Hashable
from typing import Any

from barnabas.model.ids import Uuid
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.fetch import FetchRequest, FetchTopic

_ELEMENT_KEYS: dict[ApiKey, dict[str, Callable[[Any], Hashable]]] = {
    ApiKey.METADATA: {"topics": lambda topic: (topic.name, topic.topic_id)},
    ApiKey.DESCRIBE_GROUPS: {"groups": lambda name: name},
    ApiKey.CONSUMER_GROUP_DESCRIBE: {"group_ids": lambda name: name},
    ApiKey.DESCRIBE_TRANSACTIONS: {"transactional_ids": lambda name: name},
    ApiKey.DESCRIBE_CONFIGS: {
        "resources": lambda item: (
            item.resource_type,
            item.resource_name,
            None if item.configuration_keys is None else frozenset(item.configuration_keys),
        )
    },
    ApiKey.OFFSET_FETCH: {
        # Repeated groups with different topics are kept: their results differ.
        "groups": lambda group: group.group_id if group.topics is None else id(group)
    },
}


def merge_duplicates(api: ApiKey, request: Any) -> None:
    """Removes repeated elements from the arrays of the request; keeps the order."""
    for name, key in _ELEMENT_KEYS.get(api, {}).items():
        items = getattr(request, name)
        if items and len(items) > 1:
            setattr(request, name, list({key(item): item for item in items}.values()))


def merge_fetch(request: FetchRequest) -> None:
    """Removes repeated partitions; the last occurrence is kept."""
    topics: dict[tuple[str, Uuid], FetchTopic] = {}
    for topic in request.topics:
        first = topics.setdefault((topic.topic, topic.topic_id), topic)
        if first is not topic:
            first.partitions += topic.partitions
    for topic in topics.values():
        topic.partitions = list({item.partition: item for item in topic.partitions}.values())
    request.topics = list(topics.values())
