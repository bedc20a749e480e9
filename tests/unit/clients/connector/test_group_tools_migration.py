"""Plans of moving offsets: what would be written, and what only on demand."""

import pytest

from barnabas.clients import connector
from barnabas.clients.connector.group_tools import Direction, MigrationStep, plan_migration
from barnabas.model.ids import TopicPartition

TOPIC_PARTITIONS = [TopicPartition("t", p) for p in range(4)]
SOURCE = dict(zip(TOPIC_PARTITIONS, [1, 5, 5, 5], strict=True))
TARGET = {
    TOPIC_PARTITIONS[1]: 3,
    TOPIC_PARTITIONS[2]: 5,
    TOPIC_PARTITIONS[3]: 8,
    TopicPartition("u", 0): 1,
}


def test_each_partition_of_the_source_is_judged():
    plan = plan_migration("g", Direction.TO_KAFKA, SOURCE, TARGET)
    assert [move.step for move in plan.moves] == [
        MigrationStep.CREATE,
        MigrationStep.ADVANCE,
        MigrationStep.KEEP,
        MigrationStep.REWIND,
    ]


def test_going_back_needs_leave():
    plan = plan_migration("g", Direction.TO_KAFKA, SOURCE, TARGET)
    assert plan.changes() == {TOPIC_PARTITIONS[0]: 1, TOPIC_PARTITIONS[1]: 5}
    assert plan.changes(allow_rewind=True) == {
        TOPIC_PARTITIONS[0]: 1,
        TOPIC_PARTITIONS[1]: 5,
        TOPIC_PARTITIONS[3]: 5,
    }


def test_the_former_name_of_a_field_is_deprecated():
    [move] = plan_migration("g", Direction.TO_KAFKA, {TopicPartition("t", 0): 5}, {}).moves
    with pytest.warns(DeprecationWarning, match="topic_partition"):
        assert move.place == move.topic_partition == TopicPartition("t", 0)


def test_the_former_name_of_the_error_is_deprecated():
    with pytest.warns(DeprecationWarning, match="ActiveMembersError"):
        assert connector.LivingMembersError is connector.ActiveMembersError
    with pytest.raises(AttributeError, match="NoSuchName"):
        connector.NoSuchName  # noqa: B018 - the access is the subject
