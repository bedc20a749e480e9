"""Opens logs with the checkpoints of their directory and the settings of their topic."""

import random
from collections.abc import Callable
from pathlib import Path

from barnabas.model.ids import TopicPartition, Uuid
from barnabas.runtime.clock import Clock
from barnabas.storage import file_names
from barnabas.storage.filesystem import FileSystem, OpenFiles
from barnabas.storage.log import Log
from barnabas.storage.log_config import LogConfig
from barnabas.storage.log_dirs import LogDirectory
from barnabas.storage.recovery import OpenParams, open_log
from barnabas.storage.small_files import read_topic_id, write_topic_id

ConfigSource = Callable[[str], LogConfig]


class LogOpener:
    """Opens or creates a log with its checkpoints and settings.

    Owned by the event loop.

    `config_for` returns a topic's settings while logs are loaded at start; `on_truncated` is called
    after every truncation of a log.
    """

    def __init__(
        self,
        fs: FileSystem,
        clock: Clock,
        config_for: ConfigSource | None,
        on_truncated: Callable[[Log], None],
        open_files: OpenFiles | None = None,
    ) -> None:
        self.fs = fs
        self._open_files = open_files
        self._on_truncated = on_truncated
        self._clock = clock
        default = LogConfig.from_values()
        self._config_for = config_for or (lambda topic: default)
        self._dice = random.Random()

    def load(self, directory: LogDirectory, topic_partition: TopicPartition, path: Path) -> Log:
        """Opens the log in `path`; the caller handles an OSError."""
        topic_id = read_topic_id(self.fs, path)
        config = self._config_for(topic_partition.topic)
        return self._open(
            directory, self._params(directory, path, topic_partition, topic_id, config)
        )

    def create(
        self,
        directory: LogDirectory,
        path: Path,
        topic_partition: TopicPartition,
        topic_id: Uuid | None,
        config: LogConfig,
    ) -> Log:
        """Creates a log; raises BrokerError if the disk fails."""
        params = self._params(directory, path, topic_partition, topic_id, config)
        try:
            self.fs.make_dirs(path)
            if topic_id is not None:
                write_topic_id(self.fs, path, topic_id)
            return self._open(directory, params)
        except OSError as error:
            raise directory.health.write_failed(error) from error

    def sign(self, log: Log, topic_id: Uuid) -> None:
        """Writes the topic id of a log that was created without one."""
        write_topic_id(self.fs, log.directory, topic_id)
        log.topic_id = topic_id

    def jitter(self, config: LogConfig) -> int:
        limit = min(config.segment_jitter_ms, config.segment_ms)
        return self._dice.randrange(limit) if limit > 0 else 0

    def _open(self, directory: LogDirectory, params: OpenParams) -> Log:
        log = open_log(self.fs, params, directory.health)
        log.on_truncated = self._on_truncated
        log.last_flush_ms = self._clock.monotonic_ms()
        cleaned = directory.offsets(file_names.CLEANER_OFFSETS)
        log.cleaned_offset = cleaned.get(log.topic_partition, -1)
        return log

    def _params(
        self,
        directory: LogDirectory,
        path: Path,
        topic_partition: TopicPartition,
        topic_id: Uuid | None,
        config: LogConfig,
    ) -> OpenParams:
        return OpenParams(
            directory=path,
            topic_partition=topic_partition,
            topic_id=topic_id,
            config=config,
            clean=directory.clean,
            page_cache_lost=directory.page_cache_lost,
            recovery_point=directory.offsets(file_names.RECOVERY_POINTS).get(topic_partition, 0),
            log_start_offset=directory.offsets(file_names.LOG_START_OFFSETS).get(
                topic_partition, 0
            ),
            high_watermark=directory.offsets(file_names.HIGH_WATERMARKS).get(topic_partition, 0),
            now_ms=self._clock.now_ms(),
            jitter_ms=self.jitter(config),
            open_files=self._open_files,
        )
