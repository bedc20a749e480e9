from support.groups.driver import GroupDriver

from barnabas.groups.requests import ListedGroup
from barnabas.model.error_codes import ErrorCode as E


def delete(driver, *group_ids):
    answer = driver.run(driver.shard.delete_groups(group_ids, driver.now_ms))
    return dict(answer.reply.results)


def test_only_empty_groups_are_deleted():
    driver = GroupDriver()
    driver.stable_group(1)
    driver.commit(1, group="simple")
    driver.consumer_heartbeat("a", group="new")
    driver.consumer_heartbeat("a", -1, group="new")
    driver.commit(4, group="new")
    assert delete(driver, "g", "simple", "new", "nowhere", "") == {
        "g": E.NON_EMPTY_GROUP,
        "simple": E.NONE,
        "new": E.NONE,
        "nowhere": E.GROUP_ID_NOT_FOUND,
        "": E.GROUP_ID_NOT_FOUND,
    }
    assert driver.committed(group="simple").offset == -1
    for compacted in (False, True):
        driver.reload(compacted=compacted)
        assert [group.group_id for group in driver.shard.list_groups()] == ["g"]
        assert driver.committed(group="new").offset == -1


def test_delete_groups_failed_append():
    driver = GroupDriver()
    driver.commit(1)
    driver.fail_next = E.NOT_ENOUGH_REPLICAS
    assert delete(driver, "g", "x") == {
        "g": E.COORDINATOR_NOT_AVAILABLE,
        "x": E.GROUP_ID_NOT_FOUND,
    }
    assert driver.committed().offset == 1


def test_groups_are_listed_with_type_and_state():
    driver = GroupDriver()
    driver.stable_group(1)
    driver.commit(1, group="simple")
    driver.consumer_heartbeat("a", group="new")
    assert driver.shard.list_groups() == [
        ListedGroup("g", "consumer", "Stable", "classic"),
        ListedGroup("simple", "", "Empty", "classic"),
        ListedGroup("new", "consumer", "Stable", "consumer"),
    ]

    def names(**filters):
        return [group.group_id for group in driver.shard.list_groups(**filters)]

    assert names(states=["stable"]) == ["g", "new"]
    assert names(types=["Consumer"]) == ["new"]
    assert names(states=["Empty"], types=["classic"]) == ["simple"]
    assert names(states=["Dead"]) == []


def test_describe_what_is_not_there():
    driver = GroupDriver()
    driver.consumer_heartbeat("a", group="new")
    driver.stable_group(1)
    for group_id in ("nowhere", "new"):
        described = driver.shard.describe_group(group_id)
        assert (described.error_code, described.state) == (E.GROUP_ID_NOT_FOUND, "Dead")
    for group_id in ("nowhere", "g"):
        described = driver.shard.describe_consumer_group(group_id)
        assert described.error_code is E.GROUP_ID_NOT_FOUND


def test_states_of_new_groups():
    driver = GroupDriver()
    driver.consumer_heartbeat("a")
    assert driver.state() == "Stable"
    driver.consumer_heartbeat("b")
    assert driver.state() == "Reconciling"
    driver.consumer_heartbeat("b", -1)
    assert driver.state() == "Assigning"
