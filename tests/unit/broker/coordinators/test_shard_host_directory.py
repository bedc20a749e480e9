from barnabas.broker.coordinators.shard_host import CoordinatorDirectory, ShardState


def test_load_serves_once_finished():
    directory = CoordinatorDirectory()
    assert directory.state(3) is None
    assert directory.begin_load(3, 5)
    assert directory.state(3) is ShardState.LOADING
    assert directory.finish_load(3, 5)
    assert directory.state(3) is ShardState.ACTIVE
    assert (directory.partitions(), directory.epoch(3)) == ([3], 5)


def test_repeated_election_does_not_reload():
    """KAFKA-15468."""
    directory = CoordinatorDirectory()
    directory.begin_load(3, 5)
    assert not directory.begin_load(3, 5)
    directory.finish_load(3, 5)
    assert not directory.begin_load(3, 5)
    assert not directory.begin_load(3, 4)
    assert directory.state(3) is ShardState.ACTIVE


def test_newer_election_supersedes_a_load_under_way():
    directory = CoordinatorDirectory()
    directory.begin_load(3, 5)
    assert directory.begin_load(3, 6)
    assert not directory.finish_load(3, 5)
    assert directory.finish_load(3, 6)


def test_late_unload_is_ignored_and_late_load_too():
    directory = CoordinatorDirectory()
    directory.begin_load(3, 6)
    assert not directory.unload(3, 5)
    assert directory.unload(3, 7)
    assert not directory.begin_load(3, 6), "resigned at 7"
    assert directory.begin_load(3, 8)


def test_unload_at_the_same_epoch_and_of_a_deleted_replica():
    """KAFKA-16118: a deleted replica has no epoch any more."""
    directory = CoordinatorDirectory()
    directory.begin_load(3, 5)
    assert directory.unload(3, None)
    assert not directory.unload(3, None)
    assert directory.begin_load(3, 5)


def test_failed_load_may_be_tried_again_at_the_same_epoch():
    """KAFKA-9307."""
    directory = CoordinatorDirectory()
    directory.begin_load(3, 5)
    assert directory.fail_load(3, 5)
    assert directory.state(3) is ShardState.FAILED
    assert directory.begin_load(3, 5)
    assert directory.finish_load(3, 5)
    assert not directory.fail_load(3, 5)
