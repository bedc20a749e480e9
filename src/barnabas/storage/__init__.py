"""The commit log on disk, in Kafka's file formats: segments, indexes, recovery, retention."""

from barnabas.storage.append_info import AppendInfo, AppendOrigin
from barnabas.storage.filesystem import FileSystem, OsFileSystem
from barnabas.storage.log import Log
from barnabas.storage.log_config import LogConfig
from barnabas.storage.log_manager import LogManager
from barnabas.storage.log_reader import FileSlice, LogRead

__all__ = [
    "AppendInfo",
    "AppendOrigin",
    "FileSlice",
    "FileSystem",
    "Log",
    "LogConfig",
    "LogManager",
    "LogRead",
    "OsFileSystem",
]
