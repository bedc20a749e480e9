"""What --generate proposes: the replicas of topics placed anew on a set of brokers.

Placed as the controller places new topics: racks count when every broker has one. Apache's tool
begins at a random broker; ours at the first, so that the same question has the same answer.
"""

from collections.abc import Mapping, Sequence

from barnabas.cli.apache.replicas.plan_file import Replicas
from barnabas.controller.machines.assignment import BrokerRack, Start, place_replicas
from barnabas.model.errors import ConfigError, LocalError
from barnabas.model.ids import BrokerId, TopicPartition


def brokers_for(wanted: Sequence[int], racks: Mapping[int, str | None]) -> list[BrokerRack]:
    """The brokers with their racks; none has one when racks do not count."""
    if len(set(wanted)) != len(wanted):
        raise ConfigError(f"Broker list contains duplicate entries: {list(wanted)}")
    brokers = [BrokerRack(BrokerId(number), racks.get(number)) for number in wanted]
    some, every = any(b.rack for b in brokers), all(b.rack for b in brokers)
    if some and not every:
        raise LocalError(
            "Not all brokers have rack information. Add --disable-rack-aware in command line to "
            "make replica assignment without rack information."
        )
    return brokers


def propose(current: Replicas, brokers: Sequence[BrokerRack]) -> dict[TopicPartition, list[int]]:
    """Topic by topic, each with the number of replicas that its first partition has."""
    found: dict[TopicPartition, list[int]] = {}
    for topic in sorted({place.topic for place in current}):
        places = sorted(place for place in current if place.topic == topic)
        factor = len(current[places[0]])
        if factor > len(brokers):
            raise LocalError(f"{topic} has {factor} replicas, there are {len(brokers)} brokers")
        placed = place_replicas(brokers, len(places), factor, Start())
        found.update((place, list(placed[number])) for number, place in enumerate(places))
    return found
