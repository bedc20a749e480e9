"""Which brokers hold a partition, and the change of that under way."""

from dataclasses import dataclass

from barnabas.model.ids import BrokerId

Replicas = tuple[BrokerId, ...]


@dataclass(frozen=True, slots=True)
class ReplicaAssignment:
    """The replicas of one partition, the preferred leader first.

    `adding` and `removing` say that the replicas are being changed (KIP-455); while they are,
    `replicas` is the union of target and origin.
    """

    replicas: Replicas
    adding: Replicas = ()
    removing: Replicas = ()

    @property
    def is_reassigning(self) -> bool:
        return bool(self.adding or self.removing)

    @property
    def target(self) -> Replicas:
        """What the replicas will be when the change is done."""
        return tuple(r for r in self.replicas if r not in self.removing)

    @property
    def origin(self) -> Replicas:
        """What the replicas were before the change, and will be again when it is cancelled."""
        return tuple(r for r in self.replicas if r not in self.adding)
