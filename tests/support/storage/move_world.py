"""Two log directories in memory, and a log that moves from one to the other."""

from pathlib import Path

from support.storage.log_world import TP, World

from barnabas.storage import Log
from barnabas.storage.log_moves import LogMove

FIRST, SECOND = Path("/first"), Path("/second")


class MoveWorld(World):
    """The log is made in FIRST."""

    roots = (FIRST, SECOND)

    def ask(self, target: Path = SECOND) -> None:
        self.manager.moves.request(TP, str(target))

    @property
    def move(self) -> LogMove | None:
        return self.manager.moves.get(TP)

    @property
    def future(self) -> Log:
        assert self.move is not None
        return self.move.future

    def step(self) -> bool:
        """Copy one piece; False when there is nothing left to copy."""
        moves, move = self.manager.moves, self.move
        assert move is not None
        task = move.begin(400)
        if task is None:
            return False
        task.run()
        moves.finish(move, task)
        return True

    def finish_move(self) -> Log:
        """Copy the rest and swap."""
        assert self.move is not None
        assert self.manager.moves.swap(self.move)
        return self.log

    @property
    def home(self) -> Path:
        return self.log.directory.parent

    def names(self, root: Path) -> list[str]:
        """The directories in a log directory, by the kind of their names."""
        found = [name for name in self.fs.list_dir(root) if self.fs.is_dir(root / name)]
        return sorted(name.rpartition("-")[2] if "." in name else name for name in found)
