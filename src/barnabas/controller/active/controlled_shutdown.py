"""Moves leadership off a broker that is about to stop, so that nobody waits for its session."""

import logging

from barnabas.controller.active.epoch_state import ControllerEpochState
from barnabas.controller.active.isr_changes import check_broker_epoch
from barnabas.controller.active.leaderships import Leaderships
from barnabas.controller.machines.election import ElectionKind
from barnabas.model.ids import BrokerId, TopicPartition

_log = logging.getLogger(__name__)


class ControlledShutdown:
    """The part of the controller that lets a broker go."""

    def __init__(self, epoch_state: ControllerEpochState, leaderships: Leaderships) -> None:
        self._epoch_state = epoch_state
        self._leaderships = leaderships

    async def shut_down(self, broker_id: BrokerId, broker_epoch: int) -> list[TopicPartition]:
        """Move what can be moved; returns the partitions that the broker still leads.

        Partitions with a single replica stay where they are and do not count.
        """
        check_broker_epoch(self._epoch_state, broker_id, broker_epoch)
        context = self._epoch_state.context
        context.shutting_down.add(broker_id)
        replicated = [
            tp
            for tp, _ in context.replicas_on([broker_id])
            if len(context.assignment(tp).replicas) > 1
            and tp in context.leadership
            and not context.is_being_deleted(tp)
        ]
        led = [tp for tp in replicated if context.leadership[tp].leader == broker_id]
        await self._leaderships.elect(led, ElectionKind.CONTROLLED_SHUTDOWN)
        remaining = [tp for tp in led if context.leadership[tp].leader == broker_id]
        followed = [tp for tp in replicated if tp not in remaining]
        # Stopped first, so that it does not fetch its way back into the in-sync sets.
        for tp in followed:
            self._epoch_state.batch.stop_replica(broker_id, tp, delete=False)
        await self._leaderships.remove_from_isr((tp, broker_id) for tp in followed)
        self._epoch_state.flush()
        _log.info("broker %d shuts down, still leads %d partitions", broker_id, len(remaining))
        return remaining
