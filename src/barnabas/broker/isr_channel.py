"""Carries proposed in-sync sets from partition leaders to the controller."""

from collections.abc import Callable

from barnabas.model.control import AlterPartitionChange, AlterPartitionReply
from barnabas.model.error_codes import ErrorCode


class NoController:
    """For a cluster of one, whose in-sync sets have one member and never change."""

    __slots__ = ()

    def alter_partition(
        self, change: AlterPartitionChange, on_reply: Callable[[AlterPartitionReply], None]
    ) -> None:
        on_reply(AlterPartitionReply(ErrorCode.NOT_CONTROLLER))
