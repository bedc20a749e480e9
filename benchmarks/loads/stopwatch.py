"""Times the records of one client process."""

import sys
import time

Figures = dict[str, float]


class Stopwatch:
    """The time from `start`, or from the first records that were read, to the last of `count`."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.seen = 0
        self._first = 0
        self._went = 0.0
        self._begin = 0.0
        self._cpu = 0.0
        self._end = 0.0

    def wait_for_start(self) -> None:
        """Reports that the client is made and waits for the runner."""
        print("ready", flush=True)
        sys.stdin.readline()
        self._went = time.monotonic()

    def start(self) -> None:
        self._begin, self._cpu = time.monotonic(), time.process_time()

    def saw(self, records: int) -> bool:
        """Counts records that were read; returns whether all were.

        The first ones start the time: they include the connection and the first fetch.
        """
        if not records:
            return False
        self.seen += records
        if not self._begin:
            self.start()
            self._first = self.seen
        return self.seen >= self.count

    def stop(self) -> None:
        self._end, self._cpu = time.monotonic(), time.process_time() - self._cpu

    def figures(self) -> Figures:
        begin, counted = self._begin, (self.seen - self._first) if self.seen else self.count
        if not counted:  # one poll returned all records
            begin, counted = self._went, self.seen
        return {"begin": begin, "end": self._end, "count": counted, "cpu": self._cpu}
