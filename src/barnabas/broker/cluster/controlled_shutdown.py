"""Controlled shutdown: other brokers become leaders before this broker stops."""

import asyncio
import logging
from collections.abc import Callable

from barnabas.broker.cluster.controller_link import ControllerLink
from barnabas.broker.config import BrokerConfig
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.model.errors import BarnabasError
from barnabas.replication.replica_manager import ReplicaManager

_logger = logging.getLogger("barnabas.broker")
_ANSWER_S = 10.0
_HANDOVER_S = 2.0
_POLL_S = 0.02


class ControlledShutdown:
    """Runs a controlled shutdown once, on the broker's loop."""

    def __init__(
        self,
        config: BrokerConfig,
        controller: ControllerLink,
        replicas: ReplicaManager,
        metadata: MetadataCache,
        broker_epoch: Callable[[], int],
    ) -> None:
        self._config = config
        self._controller = controller
        self._replicas = replicas
        self._metadata = metadata
        self._broker_epoch = broker_epoch

    async def leave(self) -> None:
        """Moves leadership away; gives up after the configured number of attempts."""
        if not self._config["controlled.shutdown.enable"] or self._is_alone():
            return
        backoff_s = self._config["controlled.shutdown.retry.backoff.ms"] / 1000
        for attempt in range(self._config["controlled.shutdown.max.retries"]):
            if attempt:
                await asyncio.sleep(backoff_s)
            if await self._try_leave():
                await self._wait_for_handover()
                return
        _logger.warning("controlled shutdown incomplete: this broker still leads partitions")

    async def _try_leave(self) -> bool:
        try:
            async with asyncio.timeout(
                _ANSWER_S
            ):  # a controller without ZooKeeper sends no response
                remaining = await self._controller.controlled_shutdown(self._broker_epoch())
        except (BarnabasError, OSError) as error:
            _logger.info("controlled shutdown failed: %s", error)
            return False
        return not remaining

    async def _wait_for_handover(self) -> None:
        """Waits until the controller's commands arrived, so that clients get the new leaders."""
        for _ in range(int(_HANDOVER_S / _POLL_S)):
            if not any(len(led.replicas) > 1 for led in self._replicas.leader_partitions()):
                return
            await asyncio.sleep(_POLL_S)

    def _is_alone(self) -> bool:
        return len(list(self._metadata.brokers())) < 2
