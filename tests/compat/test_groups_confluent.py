"""Consumer groups of confluent-kafka: both protocols, and the way from one to the other."""

from contextlib import ExitStack, closing

import pytest
from confluent_kafka import TopicPartition
from support.groups.foreign_groups import (
    QUICK,
    ConfluentMember,
    create_topic,
    group_kind,
    produce,
    read_all,
    settle,
)

from barnabas.testing import Broker

pytestmark = pytest.mark.compat
COOPERATIVE = {"partition.assignment.strategy": "cooperative-sticky"}
NEW = {"group.protocol": "consumer"}


@pytest.fixture(scope="module")
def quick_broker():
    with Broker(QUICK) as running:
        yield running


@pytest.fixture
def topic(quick_broker, topic_name):
    create_topic(quick_broker, topic_name, 4)
    return topic_name


class Team:
    """Members of one group on one topic, closed with the test."""

    def __init__(self, broker, topic, stack):
        self._broker, self._topic, self._stack = broker, topic, stack

    def member(self, **config):
        member = ConfluentMember(self._broker, self._topic, self._topic, **config)
        return self._stack.enter_context(closing(member))

    def kind(self):
        return group_kind(self._broker, self._topic)


@pytest.fixture
def team(quick_broker, topic):
    with ExitStack() as stack:
        yield Team(quick_broker, topic, stack)


@pytest.mark.parametrize(
    "config",
    [{}, COOPERATIVE, NEW, {"group.protocol": "consumer", "group.remote.assignor": "range"}],
    ids=["eager", "cooperative", "consumer", "consumer-range"],
)
def test_members_share_join_and_leave(quick_broker, topic, team, config):
    """Passes when `settle` sees all partitions assigned after each join and leave."""
    produce(quick_broker, topic, 400, 4)
    members = [team.member(**config) for _ in range(2)]
    settle(members, 4)
    read_all(members, 400)
    members.append(team.member(**config))
    settle(members, 4)
    members.pop(0).close()
    settle(members, 4)


@pytest.mark.parametrize("config", [{}, COOPERATIVE, NEW], ids=["eager", "cooperative", "consumer"])
def test_group_goes_on_where_it_committed(quick_broker, topic, team, config):
    produce(quick_broker, topic, 100, 4)
    first = team.member(**config)
    read_all([first], 100)
    committed = first.commit()
    assert {(one.partition, one.offset) for one in committed} == {(n, 25) for n in range(4)}
    first.close()
    produce(quick_broker, topic, 8, 4)
    second = team.member(**config)
    seen = read_all([second], 8)
    assert {offset for _, offset in seen} == {25, 26}


def test_static_members_come_back_without_rebalance(team):
    a, b = (team.member(**{"group.instance.id": name}) for name in "ab")
    before = settle([a, b], 4)
    b.close()  # a static member does not say that it leaves
    again = team.member(**{"group.instance.id": "b"})
    assert settle([a, again], 4) == before


def test_static_members_of_the_new_protocol(team):
    a, b = (team.member(**NEW, **{"group.instance.id": name}) for name in "ab")
    before = settle([a, b], 4)
    b.close()
    again = team.member(**NEW, **{"group.instance.id": "b"})
    assert settle([a, again], 4) == before


def test_online_migration_there_and_back(team):
    """KIP-848: never two owners on the way; `settle` watches."""
    old = [team.member(**COOPERATIVE) for _ in range(2)]
    settle(old, 4)
    assert team.kind() == ("STABLE", "CLASSIC")
    new = [team.member(**NEW)]
    settle([*old, *new], 4)
    assert team.kind()[1] == "CONSUMER"
    old.pop().close()
    settle([*old, *new], 4)
    new.append(team.member(**NEW))
    old.pop().close()
    settle(new, 4)
    back = team.member(**COOPERATIVE)
    settle([*new, back], 4)
    for member in new:
        member.close()
    settle([back], 4)
    assert team.kind() == ("STABLE", "CLASSIC")


@pytest.mark.parametrize("config", [{}, NEW], ids=["classic", "consumer"])
def test_restart_of_the_broker_keeps_group_and_offsets(tmp_path, config):
    with Broker(QUICK, data_dir=tmp_path) as broker:
        port = broker.port
        create_topic(broker, "t", 4)
        produce(broker, "t", 40, 4)
        member = ConfluentMember(broker, "g", "t", **config)
        read_all([member], 40)
        member.commit()
    with Broker(QUICK, data_dir=tmp_path, port=port) as broker, closing(member):
        produce(broker, "t", 4, 4)
        read_all([member], 44)
        committed = member._consumer.committed([TopicPartition("t", n) for n in range(4)], 20)
        assert [one.offset for one in committed] == [10] * 4
