"""What this consumer raises that the others do not."""

from barnabas.model.errors import BarnabasError, DeadlineError, LocalError


class ConsumerTimeoutError(DeadlineError):
    """No record came within consumer.timeout.ms; the stream can be read on."""


class MessageStreamsExistError(LocalError):
    """Streams were asked for twice; a connector makes them once."""


class ConsumerRebalanceFailedError(BarnabasError):
    """The attempts of a rebalance are used up; the consumer owns nothing now."""


class AssignmentError(LocalError):
    """The group's subscriptions do not allow the assignment that was asked for."""


class LivingMembersError(LocalError):
    """The group is in use: its members would undo what was asked for."""
