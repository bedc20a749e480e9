"""The replicas of a partition and its reassignment in progress."""

from dataclasses import dataclass

from barnabas.model.ids import BrokerId

Replicas = tuple[BrokerId, ...]


@dataclass(frozen=True, slots=True)
class ReplicaAssignment:
    """The replicas of one partition, the preferred leader first.

    `adding` and `removing` are set during a reassignment (KIP-455); `replicas` is then the union of
    `target` and `origin`.
    """

    replicas: Replicas
    adding: Replicas = ()
    removing: Replicas = ()

    @property
    def is_reassigning(self) -> bool:
        return bool(self.adding or self.removing)

    @property
    def target(self) -> Replicas:
        """The replicas after the reassignment."""
        return tuple(r for r in self.replicas if r not in self.removing)

    @property
    def origin(self) -> Replicas:
        """The replicas before the reassignment, and after its cancellation."""
        return tuple(r for r in self.replicas if r not in self.adding)
