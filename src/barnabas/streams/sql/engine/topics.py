"""Topics of relations: looked up, made when a statement asks for one, deleted with DROP."""

from barnabas.admin import Admin, ConfigResource, ConfigSource
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.streams.sql.catalog.properties import TopicWish
from barnabas.streams.sql.catalog.relations import Relation
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.statements import RelationKind

BROKER_DEFAULT = -1


class Topics:
    """The topics of a cluster, as SQL needs them."""

    def __init__(self, admin: Admin) -> None:
        self._admin = admin

    def partitions(self, topic: str) -> int | None:
        """How many partitions a topic has; None if there is no such topic."""
        try:
            return len(self._admin.describe_topic(topic).partitions)
        except BrokerError as error:
            if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                return None
            raise

    def require(self, relation: Relation, wish: TopicWish) -> None:
        """For CREATE without AS: the topic is there, or `partitions` says how to make it."""
        if self.partitions(relation.topic) is not None:
            return
        if wish.partitions is None:
            raise SqlError(
                f"there is no topic {relation.topic!r}: create it, or add partitions=… to WITH "
                "to have it made"
            )
        self.make(relation, wish, wish.partitions)

    def retention(self, topic: str) -> int | None:
        """The retention that a topic was given; None if it has the cluster's."""
        resource = ConfigResource.topic(topic)
        found = self._admin.describe_configs([resource], names=["retention.ms"])
        entry = found[resource].get("retention.ms") if resource in found.ok else None
        own = entry is not None and entry.source is ConfigSource.DYNAMIC_TOPIC_CONFIG
        return int(entry.value) if own and entry is not None and entry.value else None

    def make(self, relation: Relation, wish: TopicWish, partitions: int) -> None:
        """Make the topic of a relation, if it is not there; of a table, a compacted one."""
        table = relation.kind is RelationKind.TABLE
        configs: dict[str, str | None] = {"cleanup.policy": "compact"} if table else {}
        if wish.retention_ms is not None and not table:
            configs["retention.ms"] = str(wish.retention_ms)
        try:
            self._admin.create_topic(
                relation.topic,
                wish.partitions or partitions,
                BROKER_DEFAULT if wish.replicas is None else wish.replicas,
                configs,
            )
        except BrokerError as error:
            if error.code is not ErrorCode.TOPIC_ALREADY_EXISTS:
                raise

    def delete(self, topic: str) -> None:
        try:
            self._admin.delete_topic(topic)
        except BrokerError as error:
            if error.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                raise
