"""The controller's settings, taken from a broker's configuration."""

from dataclasses import dataclass
from typing import Self

from barnabas.model.config import ConfigValues


@dataclass(frozen=True, slots=True)
class ControllerConfig:
    """Settings of the controller with Kafka's defaults."""

    auto_leader_rebalance_enable: bool = True
    leader_imbalance_check_interval_s: float = 300
    leader_imbalance_per_broker_percentage: float = 10
    delete_topic_enable: bool = True
    unclean_leader_election_enable: bool = False
    retry_backoff_s: float = 0.1

    @classmethod
    def from_values(cls, values: ConfigValues) -> Self:
        """Build from a parsed broker configuration; missing keys keep their defaults."""
        default = cls()
        return cls(
            values.get("auto.leader.rebalance.enable", default.auto_leader_rebalance_enable),
            values.get(
                "leader.imbalance.check.interval.seconds", default.leader_imbalance_check_interval_s
            ),
            values.get(
                "leader.imbalance.per.broker.percentage",
                default.leader_imbalance_per_broker_percentage,
            ),
            values.get("delete.topic.enable", default.delete_topic_enable),
            values.get("unclean.leader.election.enable", default.unclean_leader_election_enable),
        )
