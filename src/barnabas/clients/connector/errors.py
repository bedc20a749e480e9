"""Errors of the ZooKeeper consumer."""

from barnabas.model.errors import BarnabasError, DeadlineError, LocalError


class ConsumerTimeoutError(DeadlineError):
    """No record arrived within `consumer.timeout.ms`; the stream is still usable."""


class MessageStreamsExistError(LocalError):
    """The connector already has streams; it creates them only once."""


class ConsumerRebalanceFailedError(BarnabasError):
    """All `rebalance.max.retries` attempts failed; the consumer owns no partitions."""


class AssignmentError(LocalError):
    """The configured assignor does not support the subscriptions of the group."""


class LivingMembersError(LocalError):
    """The group has active members, which would overwrite the change."""
