"""Plans of moving offsets: what would be written, and what only on demand."""

from barnabas.clients.connector.migration_plan import Direction, Step, plan_migration
from barnabas.model.ids import TopicPartition

PLACES = [TopicPartition("t", p) for p in range(4)]
SOURCE = dict(zip(PLACES, [1, 5, 5, 5], strict=True))
TARGET = {PLACES[1]: 3, PLACES[2]: 5, PLACES[3]: 8, TopicPartition("u", 0): 1}


def test_each_partition_of_the_source_is_judged():
    plan = plan_migration("g", Direction.TO_KAFKA, SOURCE, TARGET)
    assert [move.step for move in plan.moves] == [
        Step.CREATE,
        Step.ADVANCE,
        Step.KEEP,
        Step.REWIND,
    ]


def test_going_back_needs_leave():
    plan = plan_migration("g", Direction.TO_KAFKA, SOURCE, TARGET)
    assert plan.changes() == {PLACES[0]: 1, PLACES[1]: 5}
    assert plan.changes(allow_rewind=True) == {PLACES[0]: 1, PLACES[1]: 5, PLACES[3]: 5}
